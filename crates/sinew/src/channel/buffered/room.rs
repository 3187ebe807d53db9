//! Letting in senders that wait for room: a receiver that takes a message fills the slot with the
//! next message before other threads can see that the slot is free.
//!
//! # Safety
//!
//! The same as the parent module.
#![expect(unsafe_code, reason = "what is in a store is known by counts")]

use std::cell::Cell;

use super::{Buffered, Claimed, Inlet, Locked, Ordering, Outlet, Store, WaitSlot};
use crate::channel::wait_slot::hand_over;
use crate::rt::pick;

impl<T, S: Store<T>> Buffered<T, S> {
    /// Takes a message, and lets in the first sender that waits for room. Returns `None` if other
    /// receivers have taken all messages in the meantime.
    #[cold]
    #[inline(never)]
    pub(super) fn receive_and_let_in<'a>(
        &'a self,
        mut exit: Locked<'a, Outlet<S::Out>, WaitSlot>,
    ) -> Option<T> {
        let mut made = None;
        loop {
            let mut entrance = self.entrance.queue.lock();
            // Memory comes before the message is taken. A sender must not be woken without being
            // let in: if it then hands its message to a receiver, nothing would wake the next
            // sender in the queue.
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

    /// Fills a free slot with the message of the first sender that waits for room. Other threads
    /// cannot see the free slot before the lock of the entrance is released. Returns the sender
    /// that was let in, and the receiver that was waiting for its message.
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
            // Relaxed: changed under this lock. A load without the lock must only not be too small.
            self.entrance.reserved.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: no other sender has filled the free slot, since senders see it only with the lock
        // of the entrance.
        let handed = unsafe { self.bring(entrance, &mut message.into_inner()) };
        [claimed, handed]
    }

    /// Hands a message to a waiting receiver, or stores it. Does nothing if there is no message.
    ///
    /// # Safety
    ///
    /// There is room for the message, and the store has a slot.
    pub(super) unsafe fn bring(
        &self,
        entrance: &mut Locked<'_, Inlet<S::In>, WaitSlot>,
        message: &mut Option<T>,
    ) -> Option<Claimed> {
        // SAFETY: it is the queue of this channel, in which all wait slots have places.
        let claimed = unsafe { hand_over(entrance, message) };
        if let Some(message) = message.take() {
            // SAFETY: the caller's promise.
            unsafe { self.put(entrance, message) };
        }
        claimed
    }
}
