//! Receiving: out of a slot, or from a sender while this receiver waits. As in sending, the path
//! that each message takes is short.
//!
//! # Safety
//!
//! The same as the parent module.
#![expect(unsafe_code, reason = "what is in a store is known by counts")]

use std::cell::Cell;

use super::{Buffered, Ordering, Outlet, Store};
use crate::channel::reason::NotReceived;
use crate::channel::wait_slot::WaitSlot;
use crate::rt::{self, Limit, Locked, Place, WaitKind};

impl<T, S: Store<T>> Buffered<T, S> {
    /// Receives a message. Returns `None` if there is none.
    #[inline]
    pub(in crate::channel) fn try_receive(&self) -> Option<T> {
        if self.seems_empty() { None } else { self.try_receive_out_of_line() }
    }

    #[inline(never)]
    fn try_receive_out_of_line(&self) -> Option<T> {
        self.try_receive_under(self.exit.queue.lock())
    }

    #[inline(always)]
    fn try_receive_under(&self, mut exit: Locked<'_, Outlet<S::Out>, WaitSlot>) -> Option<T> {
        if !self.has_message() {
            return None;
        }
        if !exit.is_empty() {
            return self.receive_and_let_in(exit);
        }
        // SAFETY: there is a message.
        let (message, spare) = unsafe { self.take(&mut exit) };
        drop(exit);
        spare.into_iter().for_each(|spare| self.store.keep(spare));
        self.watchers.tell();
        Some(message)
    }

    /// Returns whether there is no message, as far as can be known without the lock. A message
    /// whose sending happens before this call is not missed.
    #[inline]
    pub(in crate::channel) fn seems_empty(&self) -> bool {
        let taken = self.exit.taken.load(Ordering::Relaxed);
        // The cache line of the senders is read only when all messages in `seen` are used up.
        taken == self.exit.seen.load(Ordering::Relaxed) && taken == self.entrance.sent.load(Ordering::Relaxed)
    }

    /// Returns whether there is a message. The caller holds the lock of the exit.
    #[inline]
    pub(super) fn has_message(&self) -> bool {
        // Relaxed: changed under this lock.
        let taken = self.exit.taken.load(Ordering::Relaxed);
        if taken != self.exit.seen.load(Ordering::Relaxed) {
            return true;
        }
        // Acquire: pairs with the release of the sender that put them.
        let sent = self.entrance.sent.load(Ordering::Acquire);
        self.exit.seen.store(sent, Ordering::Relaxed);
        taken != sent
    }

    /// Takes the first message.
    ///
    /// # Safety
    ///
    /// There is a message.
    #[inline]
    pub(super) unsafe fn take(
        &self,
        exit: &mut Locked<'_, Outlet<S::Out>, WaitSlot>,
    ) -> (T, Option<S::Spare>) {
        // SAFETY: the position belongs to this store, and the counts have shown the caller that
        // there is a message.
        let taken = unsafe { self.store.take(&mut exit.end) };
        let count = self.exit.taken.load(Ordering::Relaxed);
        // Release: pairs with the acquire of the sender that fills the slot again.
        self.exit.taken.store(count + 1, Ordering::Release);
        taken
    }

    /// Receives a message, and waits until there is one.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no message and all senders are gone, or if the limit is
    /// reached.
    #[inline]
    pub(in crate::channel) fn receive(&self, limit: Limit) -> Result<T, NotReceived> {
        if self.seems_empty() { self.wait_to_receive(limit) } else { self.receive_locked(limit) }
    }

    #[inline(never)]
    fn receive_locked(&self, limit: Limit) -> Result<T, NotReceived> {
        let exit = self.exit.queue.lock();
        // Relaxed: changed under this lock.
        if rt::spends_for_group(self.exit.taken.load(Ordering::Relaxed)) {
            drop(exit);
            return self.receive_for_group(limit);
        }
        match self.try_receive_under(exit) {
            Some(message) => Ok(message),
            None => self.wait_to_receive(limit),
        }
    }

    /// Receives a message that is also charged to the fiber's turn, so that other fibers run.
    #[cold]
    #[inline(never)]
    fn receive_for_group(&self, limit: Limit) -> Result<T, NotReceived> {
        // Before the receive: a fiber that is abandoned in this call does not lose a message.
        rt::spend_for_group();
        match self.try_receive() {
            Some(message) => Ok(message),
            None => self.wait_to_receive(limit),
        }
    }

    #[cold]
    #[inline(never)]
    fn wait_to_receive(&self, mut limit: Limit) -> Result<T, NotReceived> {
        let place = Cell::new(None);
        loop {
            let wait_slot = WaitSlot::with(&place);
            let (outcome, _) =
                self.entrance.queue.wait(WaitKind::Receive, wait_slot, limit.next_wait(), |_, _| {
                    self.has_to_wait_for_message().then_some(Place::Back)
                });
            if let Some(message) = place.take() {
                return Ok(message);
            }
            // In this order: messages that were sent before the channel was closed are still
            // received.
            let is_closed = self.is_closed();
            match self.try_receive() {
                Some(message) => return Ok(message),
                None if is_closed => return Err(NotReceived::Closed),
                None => outcome.into_result()?,
            }
        }
    }

    /// Returns whether a receiver has to wait. The caller holds the lock of the entrance.
    pub(in crate::channel) fn has_to_wait_for_message(&self) -> bool {
        self.entrance.sent.load(Ordering::Relaxed) == self.taken() && !self.is_closed()
    }
}
