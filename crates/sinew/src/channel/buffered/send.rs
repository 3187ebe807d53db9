//! Sending: to a waiting receiver, or into a slot. The path that each message takes is short and
//! calls no function. Everything else is behind tail calls.
//!
//! # Safety
//!
//! The same as the parent module.
#![expect(unsafe_code, reason = "what is in a store is known by counts")]

use std::cell::Cell;

use super::{Buffered, Inlet, Ordering, SendRefused, Store};
use crate::channel::reason::NotSent;
use crate::channel::wait_slot::{WaitSlot, hand_over};
use crate::rt::sync::fence;
use crate::rt::{self, Limit, Locked, Place, WaitKind};

/// What it costs the sender to hand a message to a waiting receiver.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cost {
    /// The message is counted like a stored one. The call may wait by contract.
    PartOfTurn,
    Nothing,
}

impl<T, S: Store<T>> Buffered<T, S> {
    /// Sends a message if there is room for it.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no room, or if all receivers are gone.
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
            // Of two callers that each receive from one channel and then send to the other's, at
            // least one finds the room: `taken` is loaded again after this.
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

    /// Sends a message, and waits until there is room for it.
    ///
    /// # Errors
    ///
    /// Returns an error if all receivers are gone, or if the limit is reached.
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

    /// Sends a message that is also charged to the fiber's turn, so that other fibers run.
    ///
    /// # Safety
    ///
    /// The contract of [`put`](Self::put) applies.
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
        // The message stays here: without optimisation, each function that takes it by value
        // reserves room for several copies.
        let mut place = Cell::new(Some(message));
        let is_closed = self.try_send_under(entrance, place.get_mut(), Cost::PartOfTurn);
        if place.get_mut().is_none() {
            return Ok(());
        }
        let why =
            if is_closed { Some(NotSent::Closed(())) } else { self.wait_to_send(&mut place, limit).err() };
        why.map_or(Ok(()), |why| Err(why.with(place.into_inner().expect("it was not sent"))))
    }

    /// Returns whether no receiver waits for a message, and there is a slot for it.
    #[inline]
    fn can_put(&self, entrance: &mut Locked<'_, Inlet<S::In>, WaitSlot>) -> bool {
        // Relaxed: changed under this lock.
        let is_closed = self.entrance.is_closed.load(Ordering::Relaxed);
        !is_closed
            && entrance.is_empty()
            && self.has_room(entrance)
            && self.store.has_place(&mut entrance.end, &mut None)
    }

    /// Sends the message, and takes it out of `message`, unless there is no room or the channel is
    /// closed. Returns whether the channel is closed. Releases the lock of the entrance.
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
            // SAFETY: it is the queue of this channel, in which all wait slots have places.
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

    /// Returns the number of slots that were ever filled, plus those that are reserved.
    #[inline]
    fn filled(&self, order: Ordering) -> usize {
        // In this order: a reserved slot is filled before its reservation ends.
        let reserved = self.entrance.reserved.load(order);
        self.entrance.sent.load(order) + reserved
    }

    /// Puts a message into the next slot.
    ///
    /// # Safety
    ///
    /// There is room, and the store has a slot.
    #[inline]
    pub(super) unsafe fn put(&self, entrance: &mut Locked<'_, Inlet<S::In>, WaitSlot>, message: T) {
        // SAFETY: the position belongs to this store. There are fewer messages than slots: the
        // caller has seen that by `taken`, or has just taken a message itself.
        unsafe { self.store.put(&mut entrance.end, message) };
        let sent = self.entrance.sent.load(Ordering::Relaxed);
        // Release: pairs with the acquire of the receiver that takes the message.
        self.entrance.sent.store(sent + 1, Ordering::Release);
    }

    /// Waits until the message was sent, and takes it out of `place`.
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

    /// Returns whether a sender has to wait. The caller holds the lock of the exit.
    pub(in crate::channel) fn has_to_wait_for_room(&self) -> bool {
        let is_full = || self.filled(Ordering::Acquire) - self.taken() >= self.capacity;
        // While slots are reserved, the numbers of reservations and of messages change together,
        // and only under the lock.
        let _entrance =
            (self.entrance.reserved.load(Ordering::Acquire) != 0).then(|| self.entrance.queue.lock());
        is_full() && !self.is_closed()
    }
}
