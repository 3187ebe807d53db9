//! A channel that keeps messages, up to a number of them. Where it keeps them is a [`Store`]'s matter.
//!
//! How it works, and why nothing is lost, is in the README beside this file.
//!
//! # Safety
//!
//! Trusted with the counts by which the ends of a store are used: that there is a place to put into and a message to take.
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
    /// Whether that is a limit.
    is_bounded: bool,
    pub(super) watchers: Watchers,
}

pub(super) struct SendSide<T, S: Store<T>> {
    /// Locked by whoever sends. Whoever receives waits in it.
    pub(super) queue: Queue<Inlet<S::In>, WaitSlot>,
    /// # Invariant
    ///
    /// How many messages were ever put. Changed under the lock.
    sent: AtomicUsize,
    /// How many places are kept for messages that are yet to be made. Changed under the lock.
    reserved: AtomicUsize,
    /// Counts messages that were taken and whose places were filled, or reserved, in the same step.
    /// Changed under the lock.
    refilled: AtomicUsize,
    /// Counts reservations whose places became free. Changed under the lock.
    given_up: AtomicUsize,
    /// Changed under the lock.
    is_closed: AtomicBool,
}

pub(super) struct Inlet<E> {
    end: E,
    /// # Invariant
    ///
    /// That many have been taken, or more.
    taken: usize,
    /// Counts messages that were handed to a receiver which waited.
    handed: usize,
}

pub(super) struct Exit<T, S: Store<T>> {
    /// Locked by whoever receives. Whoever sends waits in it.
    pub(super) queue: Queue<Outlet<S::Out>, WaitSlot>,
    /// # Invariant
    ///
    /// How many messages were ever taken. Changed under the lock.
    taken: AtomicUsize,
    /// # Invariant
    ///
    /// That many have been put, or more. Changed under the lock.
    seen: AtomicUsize,
}

pub(super) struct Outlet<E> {
    end: E,
}

/// Why a message was not taken at once, and the message.
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
        // Acquire: pairs with the release of whoever took: the places are free.
        self.exit.taken.load(Ordering::Acquire)
    }

    pub(super) fn is_closed(&self) -> bool {
        // Acquire: pairs with the release of `close`: what was sent before is seen.
        self.entrance.is_closed.load(Ordering::Acquire)
    }

    /// How many messages are kept.
    pub(super) fn len(&self) -> usize {
        loop {
            // Acquire: as in `has_message`.
            let sent = self.entrance.sent.load(Ordering::Acquire);
            let taken = self.taken();
            // If none was put meanwhile, no more were taken than had been put.
            if self.entrance.sent.load(Ordering::Acquire) == sent {
                return sent - taken;
            }
        }
    }

    /// Whether a message has to wait for room. A place that is kept for another one is none.
    pub(super) fn is_full(&self) -> bool {
        // As whoever sends asks, under its lock: without, a place might be kept and filled, or a message come and go, between the counts.
        !self.has_room(&mut self.entrance.queue.lock())
    }

    /// How many may be; none, if there is no limit.
    pub(super) fn capacity(&self) -> Option<usize> {
        self.is_bounded.then_some(self.capacity)
    }

    /// Whether one who receives would not have to wait now.
    pub(super) fn has_message_or_end(&self) -> bool {
        let _entrance = self.entrance.queue.lock();
        !self.has_to_wait_for_message()
    }

    /// Whether one who sends would not have to wait now.
    pub(super) fn has_room_or_end(&self) -> bool {
        let _exit = self.exit.queue.lock();
        !self.has_to_wait_for_room()
    }

    /// Nothing is sent after this, and nobody waits.
    pub(super) fn close(&self) {
        let entrance = self.entrance.queue.lock();
        // Release: pairs with the acquire of `is_closed`.
        self.entrance.is_closed.store(true, Ordering::Release);
        drop(entrance);
        self.entrance.queue.wake_all(|_| ());
        self.exit.queue.wake_all(|_| ());
        self.watchers.tell();
    }

    /// Drops all messages, whatever their destructors do. For callers that have closed the channel.
    ///
    /// # Panics
    ///
    /// As [`drop_each`].
    pub(super) fn discard(&self) {
        drop_each(|| self.try_receive());
    }
}

impl<T, S: Store<T>> Drop for Buffered<T, S> {
    fn drop(&mut self) {
        // Most often there is nothing: the last receiver has dropped all.
        self.discard();
        let (into, out) = S::ends();
        let into = std::mem::replace(&mut self.entrance.queue.get_mut().end, into);
        let out = std::mem::replace(&mut self.exit.queue.get_mut().end, out);
        // SAFETY: all messages were taken, and it is the end.
        unsafe { self.store.end(into, out) };
    }
}
