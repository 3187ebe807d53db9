//! A channel that keeps messages, up to a number of them. Where it keeps them is a [`Store`]'s matter.
//!
//! How it works, and why nothing is lost, is in the README beside this file.
//!
//! # Safety
//!
//! Trusted with the counts by which the ends of a store are used: that there is a place to put into and a message to take.
#![expect(unsafe_code, reason = "what is in a store is known by counts")]

use std::cell::Cell;

use super::reason::{NotReceived, NotSent};
use super::store::Store;
use crate::rt::sync::{AtomicBool, AtomicUsize, Ordering};
use crate::rt::{Claimed, Limit, Locked, Padded, Place, Queue};

/// The message of one who waits to send, or for one who waits to receive.
type Message<T> = Cell<Option<T>>;

/// The channel.
pub(super) struct Buffered<T, S: Store<T>> {
    entrance: Padded<Entrance<T, S>>,
    exit: Padded<Exit<T, S>>,
    store: S,
    capacity: usize,
}

struct Entrance<T, S: Store<T>> {
    /// Locked by whoever sends. Whoever receives waits in it.
    queue: Queue<Inlet<S::In>, Message<T>>,
    /// # Invariant
    ///
    /// How many messages were ever put. Changed under the lock.
    sent: AtomicUsize,
    /// Changed under the lock.
    is_closed: AtomicBool,
}

struct Inlet<E> {
    end: E,
    /// # Invariant
    ///
    /// That many have been taken, or more.
    taken: usize,
}

struct Exit<T, S: Store<T>> {
    /// Locked by whoever receives. Whoever sends waits in it.
    queue: Queue<Outlet<S::Out>, Message<T>>,
    /// # Invariant
    ///
    /// How many messages were ever taken. Changed under the lock.
    taken: AtomicUsize,
}

struct Outlet<E> {
    end: E,
    /// # Invariant
    ///
    /// That many have been put, or more.
    sent: usize,
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
    pub(super) fn new(store: S, capacity: usize) -> Self {
        let (into, out) = S::ends();
        let (inlet, outlet) = (Inlet { end: into, taken: 0 }, Outlet { end: out, sent: 0 });
        let (sent, is_closed) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self {
            entrance: Padded(Entrance { queue: Queue::new(inlet), sent, is_closed }),
            exit: Padded(Exit { queue: Queue::new(outlet), taken: AtomicUsize::new(0) }),
            store,
            capacity,
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
    #[cfg(not(loom))]
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
    #[cfg(not(loom))]
    pub(super) fn capacity(&self) -> Option<usize> {
        (self.capacity != usize::MAX).then_some(self.capacity)
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
                message = match hand_over(&mut entrance, message) {
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
        Ok(())
    }

    #[inline]
    fn has_room(&self, entrance: &mut Locked<'_, Inlet<S::In>, Message<T>>) -> bool {
        // Relaxed: changed under this lock.
        let sent = self.entrance.sent.load(Ordering::Relaxed);
        if sent - entrance.taken < self.capacity {
            return true;
        }
        entrance.taken = self.taken();
        sent - entrance.taken < self.capacity
    }

    /// # Safety
    ///
    /// There is room, and a place.
    #[inline]
    unsafe fn put(&self, entrance: &mut Locked<'_, Inlet<S::In>, Message<T>>, message: T) {
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
    fn send_slow(&self, mut message: T, limit: Limit) -> Result<(), NotSent<T>> {
        loop {
            let (outcome, left) = self.exit.queue.wait(Cell::new(Some(message)), limit, |_| {
                let is_full = self.entrance.sent.load(Ordering::Acquire) - self.taken() >= self.capacity;
                (is_full && !self.is_closed()).then_some(Place::Back)
            });
            let Some(left) = left.into_inner() else { return Ok(()) };
            if let Err(why) = outcome.into_result() {
                return Err(NotSent::gave_up(left, why));
            }
            message = match self.try_send(left) {
                Ok(()) => return Ok(()),
                Err(Refused::Closed(message)) => return Err(NotSent::Closed(message)),
                Err(Refused::Full(message)) => message,
            };
        }
    }

    /// None, if there is no message.
    #[inline]
    pub(super) fn try_receive(&self) -> Option<T> {
        let mut exit = self.exit.queue.lock();
        if !self.has_message(&mut exit) {
            return None;
        }
        if !exit.is_empty() {
            return self.receive_and_let_in(exit);
        }
        // SAFETY: there is a message.
        let (message, spare) = unsafe { self.take(&mut exit) };
        drop(exit);
        spare.into_iter().for_each(|spare| self.store.keep(spare));
        Some(message)
    }

    #[inline]
    fn has_message(&self, exit: &mut Locked<'_, Outlet<S::Out>, Message<T>>) -> bool {
        // Relaxed: changed under this lock.
        let taken = self.exit.taken.load(Ordering::Relaxed);
        if taken != exit.sent {
            return true;
        }
        // Acquire: pairs with the release of whoever put them.
        exit.sent = self.entrance.sent.load(Ordering::Acquire);
        taken != exit.sent
    }

    /// # Safety
    ///
    /// There is a message.
    #[inline]
    unsafe fn take(&self, exit: &mut Locked<'_, Outlet<S::Out>, Message<T>>) -> (T, Option<S::Spare>) {
        // SAFETY: the end is of this store, and the caller has seen by the counts that there is a message.
        let taken = unsafe { self.store.take(&mut exit.end) };
        let count = self.exit.taken.load(Ordering::Relaxed);
        // Release: pairs with the acquire of whoever puts into the place.
        self.exit.taken.store(count + 1, Ordering::Release);
        taken
    }

    /// Takes a message, and lets that of the first one who waits for room in. None, if others have taken all meanwhile.
    #[cold]
    #[inline(never)]
    fn receive_and_let_in<'a>(&'a self, mut exit: Locked<'a, Outlet<S::Out>, Message<T>>) -> Option<T> {
        let mut made = None;
        loop {
            let mut entrance = self.entrance.queue.lock();
            // Before anything is taken: whoever waits must not be woken without being let in, since the one after it would be
            // forgotten if that finds somebody to hand its message to.
            if self.store.has_place(&mut entrance.end, &mut made) {
                // SAFETY: there is a message.
                let (message, spare) = unsafe { self.take(&mut exit) };
                let claimed = self.let_in(&mut exit, &mut entrance);
                drop((entrance, exit));
                claimed.into_iter().for_each(Claimed::go);
                made.into_iter().chain(spare).for_each(|spare| self.store.keep(spare));
                return Some(message);
            }
            drop((entrance, exit));
            made = Some(self.store.more());
            exit = self.exit.queue.lock();
            if !self.has_message(&mut exit) {
                // In this order, since nothing is freed under a lock.
                drop(exit);
                return None;
            }
        }
    }

    /// One place is free, and nobody else can see that before the entrance is.
    fn let_in(
        &self,
        exit: &mut Locked<'_, Outlet<S::Out>, Message<T>>,
        entrance: &mut Locked<'_, Inlet<S::In>, Message<T>>,
    ) -> Option<Claimed> {
        let message = Cell::new(None);
        let claimed = exit.claim_and_swap(|node| node.swap(&message));
        if let Some(message) = message.into_inner() {
            // SAFETY: of this end nobody knows yet that the place is free, so nobody else has filled it.
            unsafe { self.put(entrance, message) };
        }
        claimed
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
        loop {
            let (outcome, message) = self.entrance.queue.wait(Cell::new(None), limit, |_| {
                let is_empty = self.entrance.sent.load(Ordering::Relaxed) == self.taken();
                (is_empty && !self.is_closed()).then_some(Place::Back)
            });
            if let Some(message) = message.into_inner() {
                return Ok(message);
            }
            outcome.into_result()?;
            // In this order: what was sent before the end is not overlooked.
            let is_closed = self.is_closed();
            match self.try_receive() {
                Some(message) => return Ok(message),
                None if is_closed => return Err(NotReceived::Closed),
                None => {}
            }
        }
    }

    /// Nothing is sent after this, and nobody waits.
    pub(super) fn close(&self) {
        let entrance = self.entrance.queue.lock();
        // Release: pairs with the acquire of `is_closed`.
        self.entrance.is_closed.store(true, Ordering::Release);
        drop(entrance);
        self.entrance.queue.wake_all(|_| ());
        self.exit.queue.wake_all(|_| ());
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
#[inline]
fn hand_over<E, T>(entrance: &mut Locked<'_, E, Message<T>>, message: T) -> Result<Claimed, T> {
    let message = Cell::new(Some(message));
    match (entrance.claim_and_swap(|node| node.swap(&message)), message.into_inner()) {
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
