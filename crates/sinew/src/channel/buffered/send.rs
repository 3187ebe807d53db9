//! Sending: to one who waits for a message, or into a place.
//!
//! What is done for each message is short, and calls nothing: all else is behind a call that nothing is left to do after.
//!
//! # Safety
//!
//! As the file above.
#![expect(unsafe_code, reason = "what is in a store is known by counts")]

use std::cell::Cell;

use super::{Buffered, Inlet, Ordering, SendRefused, Store};
use crate::channel::reason::NotSent;
use crate::channel::wait_slot::{WaitSlot, hand_over};
use crate::rt::sync::fence;
use crate::rt::{self, Limit, Locked, Place, WaitKind};

/// What a message costs that is handed to a waiting receiver.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cost {
    /// It is counted like messages that are put. The call may wait by contract.
    PartOfTurn,
    Nothing,
}

impl<T, S: Store<T>> Buffered<T, S> {
    /// # Errors
    ///
    /// If there is no room, or nobody to receive it.
    #[inline(never)]
    pub(in crate::channel) fn try_send(&self, message: T) -> Result<(), SendRefused<T>> {
        let mut entrance = self.entrance.queue.lock();
        if !self.can_put(&mut entrance) {
            return self.try_send_slow(entrance, message);
        }
        // SAFETY: there is room.
        unsafe { self.put(&mut entrance, message) };
        drop(entrance);
        self.watchers.tell();
        Ok(())
    }

    #[inline(never)]
    fn try_send_slow<'a>(
        &'a self,
        mut entrance: Locked<'a, Inlet<S::In>, WaitSlot>,
        message: T,
    ) -> Result<(), SendRefused<T>> {
        if !self.has_room(&mut entrance) {
            // Of two callers that each receive from one channel and then send to the other's, one at
            // least finds the room: `taken` is loaded once more after this.
            fence(Ordering::SeqCst);
        }
        let mut message = Some(message);
        let is_closed = self.try_send_under(entrance, &mut message, Cost::Nothing);
        match message {
            None => Ok(()),
            Some(message) if is_closed => Err(SendRefused::Closed(message)),
            Some(message) => Err(SendRefused::Full(message)),
        }
    }

    /// Waits for room.
    ///
    /// # Errors
    ///
    /// If nobody is left to receive it, or the limit is reached.
    #[inline(never)]
    pub(in crate::channel) fn send(&self, message: T, limit: Limit) -> Result<(), NotSent<T>> {
        let mut entrance = self.entrance.queue.lock();
        if !self.can_put(&mut entrance) {
            return self.send_slow(entrance, message, limit);
        }
        // Relaxed: changed under this lock.
        if rt::spends_for_group(self.entrance.sent.load(Ordering::Relaxed)) {
            // SAFETY: there is room.
            unsafe { self.put_for_group(entrance, message) };
            return Ok(());
        }
        // SAFETY: there is room.
        unsafe { self.put(&mut entrance, message) };
        drop(entrance);
        self.watchers.tell();
        Ok(())
    }

    /// Sends one of the messages that spend a part of the turn for others.
    ///
    /// # Safety
    ///
    /// As [`put`](Self::put).
    #[cold]
    #[inline(never)]
    unsafe fn put_for_group(&self, mut entrance: Locked<'_, Inlet<S::In>, WaitSlot>, message: T) {
        // SAFETY: the caller's promise.
        unsafe { self.put(&mut entrance, message) };
        drop(entrance);
        self.watchers.tell();
        rt::spend_for_group();
    }

    #[inline(never)]
    fn send_slow<'a>(
        &'a self,
        entrance: Locked<'a, Inlet<S::In>, WaitSlot>,
        message: T,
        limit: Limit,
    ) -> Result<(), NotSent<T>> {
        // It stays here: without optimisation, each function that it is passed to has room for it several times.
        let mut place = Cell::new(Some(message));
        let is_closed = self.try_send_under(entrance, place.get_mut(), Cost::PartOfTurn);
        if place.get_mut().is_none() {
            return Ok(());
        }
        let why =
            if is_closed { Some(NotSent::Closed(())) } else { self.wait_to_send(&mut place, limit).err() };
        why.map_or(Ok(()), |why| Err(why.with(place.into_inner().expect("it was not sent"))))
    }

    /// Whether no receiver waits for a message, and there is a place for it.
    #[inline]
    fn can_put(&self, entrance: &mut Locked<'_, Inlet<S::In>, WaitSlot>) -> bool {
        // Relaxed: changed under this lock.
        let is_closed = self.entrance.is_closed.load(Ordering::Relaxed);
        !is_closed
            && entrance.is_empty()
            && self.has_room(entrance)
            && self.store.has_place(&mut entrance.end, &mut None)
    }

    /// Sends the message, which is gone then, unless there is no room, or nobody is left to receive it. Whether it is the latter. It has the
    /// lock of the entrance, and gives it up.
    #[inline(always)]
    fn try_send_under<'a>(
        &'a self,
        entrance: Locked<'a, Inlet<S::In>, WaitSlot>,
        message: &mut Option<T>,
        cost: Cost,
    ) -> bool {
        // In this order, since nothing is freed under a lock.
        let (mut spare, mut entrance) = (None, entrance);
        loop {
            // Relaxed: changed under this lock.
            if self.entrance.is_closed.load(Ordering::Relaxed) {
                return true;
            }
            // SAFETY: it is the queue of this channel, in which all have places.
            if let Some(claimed) = unsafe { hand_over(&mut entrance, message) } {
                entrance.handed = entrance.handed.wrapping_add(1);
                let spends = cost == Cost::PartOfTurn && rt::spends_for_group(entrance.handed);
                drop(entrance);
                claimed.go();
                if spends {
                    rt::spend_for_group();
                }
                return false;
            }
            if !self.has_room(&mut entrance) {
                return false;
            }
            if self.store.has_place(&mut entrance.end, &mut spare) {
                if let Some(message) = message.take() {
                    // SAFETY: there is room.
                    unsafe { self.put(&mut entrance, message) };
                }
                drop(entrance);
                break;
            }
            drop(entrance);
            spare = Some(self.store.more());
            entrance = self.entrance.queue.lock();
        }
        spare.into_iter().for_each(|spare| self.store.keep(spare));
        self.watchers.tell();
        false
    }

    #[inline]
    pub(super) fn has_room(&self, entrance: &mut Locked<'_, Inlet<S::In>, WaitSlot>) -> bool {
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

    /// Puts a message into its place.
    ///
    /// # Safety
    ///
    /// There is room, and a place.
    #[inline]
    pub(super) unsafe fn put(&self, entrance: &mut Locked<'_, Inlet<S::In>, WaitSlot>, message: T) {
        // SAFETY: the end is of this store. Fewer are kept than there are places, and the caller has seen that by `taken`, or has
        // just taken one itself.
        unsafe { self.store.put(&mut entrance.end, message) };
        let sent = self.entrance.sent.load(Ordering::Relaxed);
        // Release: pairs with the acquire of the receiver that takes it.
        self.entrance.sent.store(sent + 1, Ordering::Release);
    }

    /// Waits until the message was sent, which is gone then.
    #[cold]
    #[inline(never)]
    fn wait_to_send(&self, place: &mut Cell<Option<T>>, mut limit: Limit) -> Result<(), NotSent<()>> {
        while place.get_mut().is_some() {
            let wait_slot = WaitSlot::with(place);
            let (outcome, _) = self.exit.queue.wait(WaitKind::Send, wait_slot, limit.next_wait(), |_, _| {
                self.has_to_wait_for_room().then_some(Place::Back)
            });
            if place.get_mut().is_none() {
                break;
            }
            outcome.into_result().map_err(|why| NotSent::gave_up((), why))?;
            if self.try_send_under(self.entrance.queue.lock(), place.get_mut(), Cost::Nothing) {
                return Err(NotSent::Closed(()));
            }
        }
        Ok(())
    }

    /// For whoever has the lock of the exit.
    pub(in crate::channel) fn has_to_wait_for_room(&self) -> bool {
        let is_full = || self.filled(Ordering::Acquire) - self.taken() >= self.capacity;
        // As long as places are kept, their number and that of messages change together, and only under the lock.
        let _entrance =
            (self.entrance.reserved.load(Ordering::Acquire) != 0).then(|| self.entrance.queue.lock());
        is_full() && !self.is_closed()
    }
}
