//! Determines that a whole set of operations was impossible at one moment.
//!
//! One pass over the operations does not show that. A message may move from a later operation to an
//! earlier one that was already looked at, so that an operation is possible at every moment and the
//! pass finds none. So there are two passes. The first takes a *stamp* of each operation that is
//! impossible; the second compares. A stamp changes whenever its operation becomes possible. If no
//! stamp has changed, each operation was impossible from its turn in the first pass to its turn in
//! the second one, and all of them at the moment between the passes.
//!
//! If a stamp has changed, an operation was possible in the meantime, and the caller tries again.
//! It does so as long as other threads send or receive between its tries, and each time one of them
//! has made progress.
//!
//! The passes enter no queue and never wait. For channels that store messages, they take no lock to
//! receive.

use smallvec::SmallVec;

use super::FEW;
use super::arm::Arm;
use crate::rt::sync::{Ordering, fence};

/// Returns whether all operations were impossible at one moment during the call. Returns false if
/// one may have been possible.
#[cold]
#[inline(never)]
pub(super) fn is_certain<'s, 'a: 's>(arms: impl Iterator<Item = &'s Arm<'a>> + Clone) -> bool {
    let mut stamps = SmallVec::<[u64; FEW]>::new();
    for arm in arms.clone() {
        let Some(stamp) = arm.port.unready_stamp() else { return false };
        stamps.push(stamp);
    }
    // The first pass acquires what was released by the threads that made an operation impossible,
    // so the second one sees what was made possible before that. The fence orders the second pass
    // after what the caller itself did: of two callers that each make an operation possible and
    // then find nothing here, the one with the later fence has seen what the other one did.
    fence(Ordering::SeqCst);
    arms.zip(stamps).all(|(arm, stamp)| arm.port.is_unready_since(stamp))
}
