//! Turns of bounded length: calls that may wait, but find what they need, give their worker away
//! after a number of successes in a row.
//!
//! A fiber runs until it waits. Without this, a fiber that receives from a channel which is never
//! empty, or reads from a socket which always has bytes, would keep its worker for ever. Calls that
//! are known not to wait, such as those named `try_`, do not come here.
//!
//! The count is the worker's, and begins anew with each task that the worker takes. So it also
//! counts what is done by fibers that enter one another without going back to the worker.

use super::tls;
use super::worker_local::TURN;
use super::yielding::give_way;

/// What a system call spends. The driver is looked into once in a round of turns, and calls take
/// microseconds.
pub(crate) const SYSTEM_CALL: u32 = TURN / 4;

/// Spends a part of the turn, and gives the worker away if nothing is left. Does nothing on a plain
/// thread, or where the fiber must not suspend. Fibers may come back on another worker.
#[inline]
pub(crate) fn spend(cost: u32) {
    if tls::worker_local().is_some_and(|local| local.spend(cost)) {
        give_way();
    }
}

/// Of `GROUP` operations on one object, the first `SOME` are counted, for all of them. Powers of
/// two.
const GROUP: usize = 512;
const SOME: usize = 4;

/// Returns whether this operation is one of those that spend for a group of them, on something that
/// counts its operations itself. The caller calls [`spend_for_group`] then.
///
/// Several in a row are counted, not one in a row of fewer: of several fibers that take turns, each
/// is counted.
#[inline]
pub(crate) fn spends_for_group(count: usize) -> bool {
    count & (GROUP - SOME) == 0
}

/// Spends a part of the turn for a group of operations.
#[cold]
#[inline(never)]
pub(crate) fn spend_for_group() {
    spend((GROUP / SOME) as u32);
}
