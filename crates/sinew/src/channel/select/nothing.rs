//! Makes certain that a set of operations was impossible, all of them at one moment.
//!
//! One pass over the operations does not show that: a message may move from an operation that comes
//! later to one that was looked at before, so that one is possible at every moment and the pass finds
//! none. So there are two passes. The first takes a *stamp* of each operation that is impossible; the
//! second compares. A stamp changes whenever its operation becomes possible. If no stamp has changed,
//! each operation was impossible from its place in the first pass to its place in the second one, and
//! all of them at the moment between the passes.
//!
//! If a stamp has changed, an operation was possible meanwhile, and the caller tries again. It does so
//! for as long as others send or receive between its tries, and each time one of them has succeeded.
//!
//! The passes take no lock for messages that are kept, enter no queue, and never wait.

use smallvec::SmallVec;

use super::FEW;
use super::arm::Arm;
use crate::rt::sync::{Ordering, fence};

/// Whether none of these operations was possible at some moment during the call. False, if one may have
/// been.
#[cold]
#[inline(never)]
pub(super) fn is_certain<'s, 'a: 's>(arms: impl Iterator<Item = &'s Arm<'a>> + Clone) -> bool {
    let mut stamps = SmallVec::<[u64; FEW]>::new();
    for arm in arms.clone() {
        let Some(stamp) = arm.port.unready_stamp() else { return false };
        stamps.push(stamp);
    }
    // The first pass acquires what the operations released that made something impossible, so the
    // second one sees what was made possible before them. The fence orders it after what the caller
    // itself did: of two callers that each make something possible and then find nothing by this, the
    // one whose fence is later has seen what the other did.
    fence(Ordering::SeqCst);
    arms.zip(stamps).all(|(arm, stamp)| arm.port.is_unready_since(stamp))
}
