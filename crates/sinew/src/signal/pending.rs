//! The signals that have arrived and were not passed on yet: a bit for each, and a bell to ring.
//! Knows not what the bell is.
//!
//! The handler sets the signal's bit and then rings the bell. The thread that passes signals on
//! waits for the bell and then takes the bits. So no signal is lost: if the bits were taken before
//! this bit was set, the bell rings after that, and the next wait ends. A signal that arrives again
//! before its bit is taken is merged with the first, as in the kernel for blocked signals. If the
//! bell rings for bits that were already taken, a wait ends without a signal.

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

    /// Notes that these signals have arrived. May be called in a signal handler if `ring` may.
    pub(super) fn note(&self, signals: Set, ring: impl FnOnce()) {
        // Release: pairs with the acquire in `take`, and makes visible what was done before the
        // signal was raised. The bell makes the bit itself visible.
        self.0.fetch_or(signals.bits(), Ordering::Release);
        ring();
    }

    /// Waits for the bell, and takes the signals that have arrived.
    pub(super) fn take(&self, wait: impl FnOnce()) -> Set {
        wait();
        // Acquire: pairs with the release in `note`.
        Set::from_bits(self.0.swap(0, Ordering::Acquire))
    }

    /// Discards these signals if they have arrived.
    pub(super) fn forget(&self, signals: Set) {
        // Relaxed: no other data depends on these bits being cleared.
        self.0.fetch_and(!signals.bits(), Ordering::Relaxed);
    }
}
