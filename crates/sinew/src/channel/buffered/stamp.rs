//! Stamps, by which a `select` determines that a channel was not ready during a whole interval.
//!
//! A stamp is taken while an operation is not possible, and changes whenever the operation becomes
//! possible. So an operation whose stamp is unchanged at a later moment was impossible at every
//! moment in between, even if the channel has changed since.

use super::{Buffered, Ordering, Store};

impl<T, S: Store<T>> Buffered<T, S> {
    /// Returns a stamp if there is nothing to receive: there is no message, and senders are left.
    pub(in crate::channel) fn empty_stamp(&self) -> Option<u64> {
        // Acquire: pairs with the release of `put`.
        let sent = self.entrance.sent.load(Ordering::Acquire);
        (sent == self.taken() && !self.is_closed()).then_some(sent as u64)
    }

    /// Returns whether there was nothing to receive at any moment since `stamp` was taken.
    ///
    /// A message can be received from the moment that `sent` counts it, and `sent` only grows.
    /// While `sent` is unchanged, so is `taken`, which never exceeds it.
    pub(in crate::channel) fn is_empty_since(&self, stamp: u64) -> bool {
        // Acquire: as above.
        self.entrance.sent.load(Ordering::Acquire) as u64 == stamp && !self.is_closed()
    }

    /// Returns a stamp if nothing can be sent: there is no room, and receivers are left.
    pub(in crate::channel) fn full_stamp(&self) -> Option<u64> {
        let mut entrance = self.entrance.queue.lock();
        if self.is_closed() || self.has_room(&mut entrance) {
            return None;
        }
        // `has_room` has just loaded `taken`, and counted with it. The other two counts change
        // under the lock.
        Some(self.vacated(entrance.taken))
    }

    /// Returns whether nothing could be sent at any moment since `stamp` was taken.
    ///
    /// Room appears when a message is taken and its slot is not filled in the same step, or when a
    /// reservation is given up. Otherwise the number of filled and reserved slots only grows.
    pub(in crate::channel) fn is_full_since(&self, stamp: u64) -> bool {
        self.vacated_by_now() == stamp && !self.is_closed()
    }

    /// Records that a message was taken and its slot was filled or reserved under the same hold of
    /// the lock. The caller holds the lock of the entrance, and calls this after both.
    pub(super) fn count_refilled(&self) {
        let refilled = self.entrance.refilled.load(Ordering::Relaxed);
        // Release: pairs with the acquire of `vacated_by_now`.
        self.entrance.refilled.store(refilled + 1, Ordering::Release);
    }

    /// Records that a reserved slot is about to become free. The caller holds the lock of the
    /// entrance, and calls this before other threads can see the free slot.
    pub(super) fn count_given_up(&self) {
        let given_up = self.entrance.given_up.load(Ordering::Relaxed);
        // Relaxed: released by the change of `reserved` that follows.
        self.entrance.given_up.store(given_up + 1, Ordering::Relaxed);
    }

    /// Returns how often room has appeared, according to the caller's view of `taken`.
    fn vacated(&self, taken: usize) -> u64 {
        // Relaxed: the caller holds the lock of the entrance, under which both change.
        let refilled = self.entrance.refilled.load(Ordering::Relaxed);
        let given_up = self.entrance.given_up.load(Ordering::Relaxed);
        taken.wrapping_sub(refilled).wrapping_add(given_up) as u64
    }

    /// Returns how often room has appeared until now. The result may be too large for a moment, and
    /// is never too small.
    fn vacated_by_now(&self) -> u64 {
        // Acquire, and before `taken`: pairs with the release of `count_refilled`, whose caller has
        // counted in `taken` the message that `refilled` counts here. In the other order, a refill
        // in between would hide a slot that has become free.
        let refilled = self.entrance.refilled.load(Ordering::Acquire);
        let given_up = self.entrance.given_up.load(Ordering::Acquire);
        self.taken().wrapping_sub(refilled).wrapping_add(given_up) as u64
    }
}
