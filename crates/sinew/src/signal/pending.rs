//! What has come and was not passed on yet: a bit for each signal, beside a bell. What the bell is, is somebody else's matter.
//!
//! Whoever notes a signal sets its bit and rings then; the one who passes signals on waits for the bell and takes the bits then. So none is
//! forgotten: if the bits were taken before this one was set, the bell rings after that, and is heard by the next wait. One that comes again before
//! its bit was taken is one with the first, as the kernel has it with signals that are blocked. A bell that rings for bits which were taken
//! already ends a wait for nothing.

use super::set::Set;
use crate::rt::sync::{AtomicU64, Ordering, constant};

/// The bits.
pub(super) struct Pending(AtomicU64);

impl Pending {
    constant! {
        pub(super) fn new() -> Self {
            Self(AtomicU64::new(0))
        }
    }

    /// These have come. May be called in a handler of signals, if `ring` may.
    pub(super) fn note(&self, signals: Set, ring: impl FnOnce()) {
        // Release: pairs with the acquire in `take`, for what was done before the signal was raised. That the bit is seen follows from the bell.
        self.0.fetch_or(signals.bits(), Ordering::Release);
        ring();
    }

    /// Waits for the bell, and takes what has come.
    pub(super) fn take(&self, wait: impl FnOnce()) -> Set {
        wait();
        // Acquire: as above.
        Set::from_bits(self.0.swap(0, Ordering::Acquire))
    }

    /// Nobody wants to hear of these, if they have come.
    pub(super) fn forget(&self, signals: Set) {
        // Relaxed: nothing is read because of it.
        self.0.fetch_and(!signals.bits(), Ordering::Relaxed);
    }
}
