//! A channel that stores messages, up to its capacity. Where it stores them is decided by a
//! [`Store`]. The protocol, and why no wake-up and no message is lost, is in the README of the
//! channels.
//!
//! # Safety
//!
//! Trusted with the counts that decide how a store is used: there is a slot to put into, or a
//! message to take.
#![expect(unsafe_code, reason = "what is in a store is known by counts")]

mod receive;
mod reserve;
mod room;
mod send;
mod stamp;

use super::store::Store;
use super::wait_slot::WaitSlot;
use super::watchers::Watchers;
use crate::rt::sync::{AtomicBool, AtomicUsize, Ordering};
use crate::rt::{Claimed, Locked, Padded, Queue, drop_each};

/// The channel.
pub(super) struct Buffered<T, S: Store<T>> {
    pub(super) entrance: Padded<SendSide<T, S>>,
    pub(super) exit: Padded<Exit<T, S>>,
    store: S,
    capacity: usize,
    /// Whether `capacity` is a limit.
    is_bounded: bool,
    pub(super) watchers: Watchers,
}

pub(super) struct SendSide<T, S: Store<T>> {
    /// Locked by senders. Receivers wait in it.
    pub(super) queue: Queue<Inlet<S::In>, WaitSlot>,
    /// # Invariant
    ///
    /// The number of messages that were ever put. Changed under the lock.
    sent: AtomicUsize,
    /// The number of slots that are reserved for messages which are not produced yet. Changed under
    /// the lock.
    reserved: AtomicUsize,
    /// Counts messages that were taken and whose slots were filled, or reserved, in the same step.
    /// Changed under the lock.
    refilled: AtomicUsize,
    /// Counts reservations whose slots became free. Changed under the lock.
    given_up: AtomicUsize,
    /// Changed under the lock.
    is_closed: AtomicBool,
}

pub(super) struct Inlet<E> {
    end: E,
    /// # Invariant
    ///
    /// At most the number of messages that have been taken.
    taken: usize,
    /// Counts messages that were handed to a waiting receiver.
    handed: usize,
}

pub(super) struct Exit<T, S: Store<T>> {
    /// Locked by receivers. Senders wait in it.
    pub(super) queue: Queue<Outlet<S::Out>, WaitSlot>,
    /// # Invariant
    ///
    /// The number of messages that were ever taken. Changed under the lock.
    taken: AtomicUsize,
    /// # Invariant
    ///
    /// At most the number of messages that have been put. Changed under the lock.
    seen: AtomicUsize,
}

pub(super) struct Outlet<E> {
    end: E,
}

/// Why a message was not sent at once. Contains the message.
pub(crate) enum SendRefused<T> {
    Full(T),
    Closed(T),
}

impl<T, S: Store<T>> Buffered<T, S> {
    pub(super) fn new(store: S, limit: Option<usize>) -> Self {
        let (into, out) = S::ends();
        let (inlet, outlet) = (Inlet { end: into, taken: 0, handed: 0 }, Outlet { end: out });
        let [sent, reserved, refilled, given_up, taken, seen] = [(); 6].map(|()| AtomicUsize::new(0));
        let is_closed = AtomicBool::new(false);
        Self {
            entrance: Padded(SendSide {
                queue: Queue::new(inlet),
                sent,
                reserved,
                refilled,
                given_up,
                is_closed,
            }),
            exit: Padded(Exit { queue: Queue::new(outlet), taken, seen }),
            store,
            capacity: limit.unwrap_or(usize::MAX),
            is_bounded: limit.is_some(),
            watchers: Watchers::new(),
        }
    }

    fn taken(&self) -> usize {
        // Acquire: pairs with the release of the receiver that took a message: its slot is free.
        self.exit.taken.load(Ordering::Acquire)
    }

    pub(super) fn is_closed(&self) -> bool {
        // Acquire: pairs with the release of `close`: what was sent before is visible.
        self.entrance.is_closed.load(Ordering::Acquire)
    }

    /// Returns the number of messages that are stored.
    pub(super) fn len(&self) -> usize {
        loop {
            // Acquire: as in `has_message`.
            let sent = self.entrance.sent.load(Ordering::Acquire);
            let taken = self.taken();
            // No message was put in between, so `taken` does not exceed `sent`.
            if self.entrance.sent.load(Ordering::Acquire) == sent {
                return sent - taken;
            }
        }
    }

    /// Returns whether there is no room for a message. A reserved slot counts as filled.
    pub(super) fn is_full(&self) -> bool {
        // Under the lock of the senders. Without it, a slot might be reserved and filled, or a
        // message be sent and taken, between the two loads.
        !self.has_room(&mut self.entrance.queue.lock())
    }

    /// Returns the number of messages that can be stored, or `None` if there is no limit.
    pub(super) fn capacity(&self) -> Option<usize> {
        self.is_bounded.then_some(self.capacity)
    }

    /// Returns whether a receiver would not have to wait now.
    pub(super) fn has_message_or_end(&self) -> bool {
        let _entrance = self.entrance.queue.lock();
        !self.has_to_wait_for_message()
    }

    /// Returns whether a sender would not have to wait now.
    pub(super) fn has_room_or_end(&self) -> bool {
        let _exit = self.exit.queue.lock();
        !self.has_to_wait_for_room()
    }

    /// Closes the channel and wakes all waiters. Nothing is sent after this.
    pub(super) fn close(&self) {
        let entrance = self.entrance.queue.lock();
        // Release: pairs with the acquire of `is_closed`.
        self.entrance.is_closed.store(true, Ordering::Release);
        drop(entrance);
        self.entrance.queue.wake_all(|_| ());
        self.exit.queue.wake_all(|_| ());
        self.watchers.tell();
    }

    /// Drops all messages, even if some destructors panic. The caller has closed the channel.
    ///
    /// # Panics
    ///
    /// Panics as [`drop_each`] does.
    pub(super) fn discard(&self) {
        drop_each(|| self.try_receive());
    }
}

impl<T, S: Store<T>> Drop for Buffered<T, S> {
    fn drop(&mut self) {
        // In most cases the channel is empty: the last receiver has dropped all messages.
        self.discard();
        let (into, out) = S::ends();
        let into = std::mem::replace(&mut self.entrance.queue.get_mut().end, into);
        let out = std::mem::replace(&mut self.exit.queue.get_mut().end, out);
        // SAFETY: all messages were taken, and the channel is not used any more.
        unsafe { self.store.end(into, out) };
    }
}
