//! Turns of bounded length: calls that may wait, but find what they need, yield their worker after
//! a number of successes in a row.
//!
//! A fiber runs until it waits. Without this, a fiber that receives from a channel which is never
//! empty, or reads from a socket which always has bytes, would keep its worker for ever. Calls that
//! are known not to wait, such as those named `try_`, do not count.
//!
//! The count belongs to the worker, and starts again with each task that the worker takes. So it
//! also counts the operations of fibers that enter one another without returning to the worker.

use super::tls;
use super::worker_local::TURN;
use super::yielding::give_way;

/// What a system call costs. The worker polls its driver once in a round of turns, and calls take
/// microseconds.
pub(crate) const SYSTEM_CALL: u32 = TURN / 4;

/// Spends a part of the turn, and yields the worker if nothing is left. Does nothing on a plain
/// thread, or where the fiber must not suspend. A fiber may continue on another worker.
#[inline]
pub(crate) fn spend(cost: u32) {
    if tls::worker_local().is_some_and(|local| local.spend(cost)) {
        give_way();
    }
}

/// Of `GROUP` operations on one object, the first `SOME` are counted, on behalf of all of them.
/// Both are powers of two.
const GROUP: usize = 512;
const SOME: usize = 4;

/// Returns whether the operation with this number spends on behalf of a group of operations. For
/// objects that count their operations themselves. The caller then calls [`spend_for_group`].
///
/// Several operations in a row are counted, rather than one in each smaller group. So each of
/// several fibers that take turns is counted.
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
