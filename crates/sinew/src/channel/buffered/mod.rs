//! A channel that keeps messages, up to a number of them. Where it keeps them is a [`Store`]'s matter.
//!
//! How it works, and why nothing is lost, is in the README beside this file.
//!
//! # Safety
//!
//! Trusted with the counts by which the ends of a store are used: that there is a place to put into and a message to take.
#![expect(unsafe_code, reason = "what is in a store is known by counts")]

mod reserve;
mod room;

use std::cell::Cell;

use super::reason::{NotReceived, NotSent};
use super::seat::Seat;
use super::store::Store;
use super::watchers::Watchers;
use crate::rt::sync::{AtomicBool, AtomicUsize, Ordering};
use crate::rt::{Claimed, Limit, Locked, Padded, Place, Queue};

/// The channel.
pub(super) struct Buffered<T, S: Store<T>> {
    pub(super) entrance: Padded<Entrance<T, S>>,
    pub(super) exit: Padded<Exit<T, S>>,
    store: S,
    capacity: usize,
    /// Whether that is a limit.
    is_bounded: bool,
    pub(super) watchers: Watchers,
}

pub(super) struct Entrance<T, S: Store<T>> {
    /// Locked by whoever sends. Whoever receives waits in it.
    pub(super) queue: Queue<Inlet<S::In>, Seat>,
    /// # Invariant
    ///
    /// How many messages were ever put. Changed under the lock.
    sent: AtomicUsize,
    /// How many places are kept for messages that are yet to be made. Changed under the lock.
    reserved: AtomicUsize,
    /// Changed under the lock.
    is_closed: AtomicBool,
}

pub(super) struct Inlet<E> {
    end: E,
    /// # Invariant
    ///
    /// That many have been taken, or more.
    taken: usize,
}

pub(super) struct Exit<T, S: Store<T>> {
    /// Locked by whoever receives. Whoever sends waits in it.
    pub(super) queue: Queue<Outlet<S::Out>, Seat>,
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
pub(crate) enum Refused<T> {
    Full(T),
    Closed(T),
}

impl<T> Refused<T> {
    /// The message.
    pub(crate) fn into_inner(self) -> T {
        match self {
            Self::Full(message) | Self::Closed(message) => message,
        }
    }
}

impl<T, S: Store<T>> Buffered<T, S> {
    pub(super) fn new(store: S, limit: Option<usize>) -> Self {
        let (into, out) = S::ends();
        let (inlet, outlet) = (Inlet { end: into, taken: 0 }, Outlet { end: out });
        let [sent, reserved, taken, seen] = [(); 4].map(|()| AtomicUsize::new(0));
        let is_closed = AtomicBool::new(false);
        Self {
            entrance: Padded(Entrance { queue: Queue::new(inlet), sent, reserved, is_closed }),
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

    /// How many may be; none, if there is no limit.
    pub(super) fn capacity(&self) -> Option<usize> {
        self.is_bounded.then_some(self.capacity)
    }

    /// # Errors
    ///
    /// If there is no room, or nobody to receive it.
    #[inline]
    pub(super) fn try_send(&self, mut message: T) -> Result<(), Refused<T>> {
        let mut spare = None;
        loop {
            let mut entrance = self.entrance.queue.lock();
            // Relaxed: changed under this lock.
            if self.entrance.is_closed.load(Ordering::Relaxed) {
                return Err(Refused::Closed(message));
            }
            if !entrance.is_empty() {
                // SAFETY: it is the queue of this channel.
                message = match unsafe { hand_over(&mut entrance, message) } {
                    Ok(claimed) => {
                        drop(entrance);
                        claimed.go();
                        return Ok(());
                    }
                    Err(message) => message,
                };
            }
            if !self.has_room(&mut entrance) {
                return Err(Refused::Full(message));
            }
            if self.store.has_place(&mut entrance.end, &mut spare) {
                // SAFETY: there is room.
                unsafe { self.put(&mut entrance, message) };
                drop(entrance);
                break;
            }
            drop(entrance);
            spare = Some(self.store.more());
        }
        spare.into_iter().for_each(|spare| self.store.keep(spare));
        self.watchers.tell();
        Ok(())
    }

    #[inline]
    fn has_room(&self, entrance: &mut Locked<'_, Inlet<S::In>, Seat>) -> bool {
        // Relaxed: changed under this lock.
        let filled = self.filled(Ordering::Relaxed);
        if filled - entrance.taken < self.capacity {
            return true;
        }
        entrance.taken = self.taken();
        filled - entrance.taken < self.capacity
    }

    /// How many places were ever filled, or are kept.
    #[inline]
    fn filled(&self, order: Ordering) -> usize {
        // In this order: a place that is kept is filled before it is not kept any more.
        let reserved = self.entrance.reserved.load(order);
        self.entrance.sent.load(order) + reserved
    }

    /// # Safety
    ///
    /// There is room, and a place.
    #[inline]
    unsafe fn put(&self, entrance: &mut Locked<'_, Inlet<S::In>, Seat>, message: T) {
        // SAFETY: the end is of this store. Fewer are kept than there are places, and the caller has seen that by `taken`, or has
        // just taken one itself.
        unsafe { self.store.put(&mut entrance.end, message) };
        let sent = self.entrance.sent.load(Ordering::Relaxed);
        // Release: pairs with the acquire of whoever takes it.
        self.entrance.sent.store(sent + 1, Ordering::Release);
    }

    /// Waits for room.
    ///
    /// # Errors
    ///
    /// If nobody is left to receive it, or the limit is reached.
    #[inline]
    pub(super) fn send(&self, message: T, limit: Limit) -> Result<(), NotSent<T>> {
        match self.try_send(message) {
            Ok(()) => Ok(()),
            Err(Refused::Closed(message)) => Err(NotSent::Closed(message)),
            Err(Refused::Full(message)) => self.send_slow(message, limit),
        }
    }

    #[cold]
    #[inline(never)]
    fn send_slow(&self, message: T, limit: Limit) -> Result<(), NotSent<T>> {
        let place = Cell::new(Some(message));
        loop {
            let seat = Seat::with(&place);
            let (outcome, _) =
                self.exit.queue.wait(seat, limit, |_| self.has_to_wait_for_room().then_some(Place::Back));
            let Some(left) = place.take() else { return Ok(()) };
            if let Err(why) = outcome.into_result() {
                return Err(NotSent::gave_up(left, why));
            }
            match self.try_send(left) {
                Ok(()) => return Ok(()),
                Err(Refused::Closed(message)) => return Err(NotSent::Closed(message)),
                Err(Refused::Full(message)) => place.set(Some(message)),
            }
        }
    }

    /// For whoever has the lock of the exit.
    pub(super) fn has_to_wait_for_room(&self) -> bool {
        let is_full = || self.filled(Ordering::Acquire) - self.taken() >= self.capacity;
        // As long as places are kept, their number and that of messages change together, and only under the lock.
        let _entrance =
            (self.entrance.reserved.load(Ordering::Acquire) != 0).then(|| self.entrance.queue.lock());
        is_full() && !self.is_closed()
    }

    /// None, if there is no message.
    #[inline]
    pub(super) fn try_receive(&self) -> Option<T> {
        if self.seems_empty() {
            return None;
        }
        let mut exit = self.exit.queue.lock();
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

    /// Whether there is no message, as far as the caller can know without the lock: one that was sent before something that it has seen is not
    /// overlooked.
    #[inline]
    pub(super) fn seems_empty(&self) -> bool {
        let taken = self.exit.taken.load(Ordering::Relaxed);
        // The other end's line is left alone for as long as what is known of it will do.
        taken == self.exit.seen.load(Ordering::Relaxed) && taken == self.entrance.sent.load(Ordering::Relaxed)
    }

    /// For whoever has the lock of the exit.
    #[inline]
    fn has_message(&self) -> bool {
        // Relaxed: changed under this lock.
        let taken = self.exit.taken.load(Ordering::Relaxed);
        if taken != self.exit.seen.load(Ordering::Relaxed) {
            return true;
        }
        // Acquire: pairs with the release of whoever put them.
        let sent = self.entrance.sent.load(Ordering::Acquire);
        self.exit.seen.store(sent, Ordering::Relaxed);
        taken != sent
    }

    /// # Safety
    ///
    /// There is a message.
    #[inline]
    unsafe fn take(&self, exit: &mut Locked<'_, Outlet<S::Out>, Seat>) -> (T, Option<S::Spare>) {
        // SAFETY: the end is of this store, and the caller has seen by the counts that there is a message.
        let taken = unsafe { self.store.take(&mut exit.end) };
        let count = self.exit.taken.load(Ordering::Relaxed);
        // Release: pairs with the acquire of whoever puts into the place.
        self.exit.taken.store(count + 1, Ordering::Release);
        taken
    }

    /// Waits for a message.
    ///
    /// # Errors
    ///
    /// If there is none and nobody is left to send one, or the limit is reached.
    #[inline]
    pub(super) fn receive(&self, limit: Limit) -> Result<T, NotReceived> {
        match self.try_receive() {
            Some(message) => Ok(message),
            None => self.receive_slow(limit),
        }
    }

    #[cold]
    #[inline(never)]
    fn receive_slow(&self, limit: Limit) -> Result<T, NotReceived> {
        let place = Cell::new(None);
        loop {
            let seat = Seat::with(&place);
            let (outcome, _) = self
                .entrance
                .queue
                .wait(seat, limit, |_| self.has_to_wait_for_message().then_some(Place::Back));
            if let Some(message) = place.take() {
                return Ok(message);
            }
            // In this order: what was sent before the end is not overlooked.
            let is_closed = self.is_closed();
            match self.try_receive() {
                Some(message) => return Ok(message),
                None if is_closed => return Err(NotReceived::Closed),
                None => outcome.into_result()?,
            }
        }
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

    /// For whoever has the lock of the entrance.
    pub(super) fn has_to_wait_for_message(&self) -> bool {
        self.entrance.sent.load(Ordering::Relaxed) == self.taken() && !self.is_closed()
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

    /// Drops all messages, whatever their destructors do. For whoever has closed it.
    pub(super) fn discard(&self) {
        struct Rest<'a, T, S: Store<T>>(&'a Buffered<T, S>);
        impl<T, S: Store<T>> Drop for Rest<'_, T, S> {
            fn drop(&mut self) {
                while self.0.try_receive().is_some() {}
            }
        }
        let rest = Rest(self);
        while rest.0.try_receive().is_some() {}
    }
}

/// Hands a message to the first one who waits for one. It comes back, if nobody does.
///
/// # Safety
///
/// It is the queue of a channel for such messages.
#[inline]
unsafe fn hand_over<E, T>(entrance: &mut Locked<'_, E, Seat>, message: T) -> Result<Claimed, T> {
    let message = Cell::new(Some(message));
    // SAFETY: the caller's promise; whoever receives has a place.
    let claimed = entrance.claim_and_swap(|seat| unsafe { seat.exchange(&message) });
    match (claimed, message.into_inner()) {
        (Some(claimed), _) => Ok(claimed),
        (None, message) => Err(message.expect("it was not handed over")),
    }
}

impl<T, S: Store<T>> Drop for Buffered<T, S> {
    fn drop(&mut self) {
        self.discard();
        let (into, out) = S::ends();
        let into = std::mem::replace(&mut self.entrance.queue.get_mut().end, into);
        let out = std::mem::replace(&mut self.exit.queue.get_mut().end, out);
        // SAFETY: all messages were taken, and it is the end.
        unsafe { self.store.end(into, out) };
    }
}
