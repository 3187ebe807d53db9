//! Letting in who waits for room: whoever takes a message fills the place with the next one before anybody else can see that it is free.
//!
//! # Safety
//!
//! As the file above.
#![expect(unsafe_code, reason = "what is in a store is known by counts")]

use std::cell::Cell;

use super::{Buffered, Claimed, Inlet, Locked, Ordering, Outlet, Store, WaitSlot};
use crate::channel::wait_slot::hand_over;
use crate::rt::pick;

impl<T, S: Store<T>> Buffered<T, S> {
    /// Takes a message, and lets that of the first one who waits for room in. None, if others have taken all meanwhile.
    #[cold]
    #[inline(never)]
    pub(super) fn receive_and_let_in<'a>(
        &'a self,
        mut exit: Locked<'a, Outlet<S::Out>, WaitSlot>,
    ) -> Option<T> {
        let mut made = None;
        loop {
            let mut entrance = self.entrance.queue.lock();
            // Before anything is taken: whoever waits must not be woken without being let in, since the one after it would be
            // forgotten if that finds somebody to hand its message to.
            if self.store.has_place(&mut entrance.end, &mut made) {
                // SAFETY: there is a message.
                let (message, spare) = unsafe { self.take(&mut exit) };
                let claimed = self.let_in(&mut exit, &mut entrance);
                if let [Some(_), None] = claimed {
                    self.count_refilled();
                }
                drop((entrance, exit));
                claimed.into_iter().flatten().for_each(Claimed::go);
                made.into_iter().chain(spare).for_each(|spare| self.store.keep(spare));
                self.watchers.tell();
                return Some(message);
            }
            drop((entrance, exit));
            made = Some(self.store.more());
            exit = self.exit.queue.lock();
            if !self.has_message() {
                // In this order, since nothing is freed under a lock.
                drop(exit);
                return None;
            }
        }
    }

    /// One place is free, and nobody else can see that before the entrance is. Returns who was let in, and who was waiting for that.
    pub(super) fn let_in(
        &self,
        exit: &mut Locked<'_, Outlet<S::Out>, WaitSlot>,
        entrance: &mut Locked<'_, Inlet<S::In>, WaitSlot>,
    ) -> [Option<Claimed>; 2] {
        let (message, is_promised) = (Cell::new(None), Cell::new(false));
        let swap = |wait_slot: &WaitSlot| {
            // SAFETY: it is the queue of this channel.
            unsafe { wait_slot.exchange(&message) };
            let is_promise = wait_slot.is_promise();
            wait_slot.is_promised.set(is_promise && !wait_slot.is_promised.get());
            is_promised.set(wait_slot.is_promised.get());
        };
        let claimed = exit.claim(pick::First, &swap, &swap);
        if is_promised.get() {
            // Relaxed: it is changed under the lock, and else looked at to be no less than it is.
            self.entrance.reserved.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: of this end nobody knows yet that the place is free, so nobody else has filled it.
        let handed = unsafe { self.bring(entrance, &mut message.into_inner()) };
        [claimed, handed]
    }

    /// Hands a message to one who waits for it, or keeps it. Nothing, if there is none.
    ///
    /// # Safety
    ///
    /// There is room for it, and a place.
    pub(super) unsafe fn bring(
        &self,
        entrance: &mut Locked<'_, Inlet<S::In>, WaitSlot>,
        message: &mut Option<T>,
    ) -> Option<Claimed> {
        // SAFETY: it is the queue of this channel, in which all have places.
        let claimed = unsafe { hand_over(entrance, message) };
        if let Some(message) = message.take() {
            // SAFETY: the caller's promise.
            unsafe { self.put(entrance, message) };
        }
        claimed
    }
}
