//! The ends of channels as operations of a select.
//!
//! # Safety
//!
//! Trusted with wait slots, places and handshakes of the right type: those of the end whose method
//! is called.
#![expect(unsafe_code, reason = "wait_slots are lent to queues, and messages have no type")]

use std::ptr;
use std::time::Instant;

use super::port::{How, Port, SelectSlot, SelectToken};
use crate::channel::buffered::Buffered;
use crate::channel::rendezvous::Rendezvous;
use crate::channel::shared::Flavour;
use crate::channel::store::Store;
use crate::channel::wait_slot::Handshake;
use crate::channel::{NotReceived, Receiver, Sender, TrySendError};
use crate::rt::{Cause, Entered, Place, Stay, Waiter};

/// Evaluates the first expression for both kinds of stores, the second for a rendezvous, and the
/// third for a clock.
macro_rules! each {
    ($handle:expr, $buffered:ident => $call:expr, $rendezvous:ident => $other:expr, $clock:pat => $last:expr) => {
        match &$handle.channel.flavour {
            Flavour::Ring($buffered) => $call,
            Flavour::Blocks($buffered) => $call,
            Flavour::Rendezvous($rendezvous) => $other,
            Flavour::Clock($clock) => $last,
        }
    };
}

const NO_SENDER: &str = "a clock has no senders";

impl<T> Port for Receiver<T> {
    fn try_select(&self, token: &mut SelectToken) -> bool {
        token.how = match self.channel.look_for_message(token.meets) {
            Ok(message) => {
                token.space.fill(message);
                How::Received
            }
            Err(NotReceived::Closed) => How::Closed,
            Err(_) => return false,
        };
        true
    }

    fn prepare(&self, select_slot: &SelectSlot, owner: *const ()) {
        select_slot.space.prepare::<T>();
        // SAFETY: it was just prepared for this type.
        let place = unsafe { select_slot.space.place::<T>() }.cast();
        select_slot.handshake.settle(place);
        select_slot.stay.data().settle(place, &raw const select_slot.handshake, owner);
    }

    unsafe fn enter(&self, select_slot: &SelectSlot, waiter: Waiter, owner: *const ()) -> Entered {
        each!(self,
            // SAFETY: the caller's promise.
            buffered => unsafe { enter_entrance(buffered, select_slot, waiter) },
            // SAFETY: the caller's promise.
            rendezvous => unsafe { enter_receivers(rendezvous, select_slot, waiter, owner) },
            _ => Entered::Waits)
    }

    unsafe fn leave(&self, select_slot: &SelectSlot) -> bool {
        each!(self,
            // SAFETY: the caller's promise.
            buffered => unsafe { select_slot.stay.leave(&buffered.entrance.queue) },
            // SAFETY: the caller's promise.
            rendezvous => unsafe { select_slot.stay.leave(&rendezvous.receivers) },
            _ => false)
    }

    unsafe fn accept(&self, select_slot: &SelectSlot, token: &mut SelectToken) -> bool {
        if select_slot.stay.data().is_promised.get() {
            select_slot.handshake.wait();
        }
        // SAFETY: the caller's promise. The handshake, if there was one, has ended.
        let Some(message) = (unsafe { select_slot.space.take::<T>() }) else { return false };
        token.space.fill(message);
        token.how = How::Received;
        true
    }

    unsafe fn abandon(&self, _: &SelectToken) {}

    fn next(&self) -> Option<Instant> {
        match &self.channel.flavour {
            Flavour::Clock(clock) => clock.next(),
            _ => None,
        }
    }

    fn unready_stamp(&self) -> Option<u64> {
        each!(self,
            buffered => buffered.empty_stamp(),
            rendezvous => rendezvous.no_sender_stamp(),
            clock => Some(clock.stamp()))
    }

    fn is_unready_since(&self, stamp: u64) -> bool {
        each!(self,
            buffered => buffered.is_empty_since(stamp),
            rendezvous => rendezvous.has_no_sender_since(stamp),
            clock => clock.is_empty_since(stamp))
    }

    fn is_ready(&self) -> bool {
        each!(self,
            buffered => !buffered.seems_empty() || buffered.is_closed(),
            rendezvous => rendezvous.has_sender(ptr::null()) || rendezvous.is_closed(),
            clock => clock.has_message())
    }

    unsafe fn enter_to_watch(&self, stay: &Stay<()>, waiter: Waiter) -> Entered {
        each!(self,
            // SAFETY: the caller's promise.
            buffered => unsafe { buffered.watchers.enter(stay, waiter, || buffered.has_message_or_end()) },
            // SAFETY: the caller's promise.
            rendezvous => unsafe { rendezvous.watchers.enter(stay, waiter, || self.is_ready()) },
            _ => Entered::Waits)
    }

    unsafe fn leave_watching(&self, stay: &Stay<()>) {
        each!(self,
            // SAFETY: the caller's promise.
            buffered => unsafe { buffered.watchers.leave(stay) },
            // SAFETY: the caller's promise.
            rendezvous => unsafe { rendezvous.watchers.leave(stay) },
            _ => ());
    }
}

impl<T> Port for Sender<T> {
    fn try_select(&self, token: &mut SelectToken) -> bool {
        let reserve = |reserved| match reserved {
            Ok(true) => How::Reserved,
            Ok(false) => How::Not,
            Err(()) => How::Closed,
        };
        token.how = match &self.channel.flavour {
            Flavour::Ring(buffered) => reserve(buffered.reserve()),
            Flavour::Blocks(buffered) if buffered.capacity().is_some() => reserve(buffered.reserve()),
            Flavour::Blocks(buffered) if buffered.is_closed() => How::Closed,
            Flavour::Blocks(_) => How::Unbounded,
            Flavour::Rendezvous(rendezvous) => match rendezvous.promise() {
                Ok(handshake) => handshake.map_or(How::Not, How::Promised),
                Err(()) => How::Closed,
            },
            Flavour::Clock(_) => unreachable!("{}", NO_SENDER),
        };
        !matches!(token.how, How::Not)
    }

    fn prepare(&self, select_slot: &SelectSlot, owner: *const ()) {
        select_slot.stay.data().settle(ptr::null(), ptr::null(), owner);
    }

    unsafe fn enter(&self, select_slot: &SelectSlot, waiter: Waiter, owner: *const ()) -> Entered {
        each!(self,
            // SAFETY: the caller's promise.
            buffered => unsafe { enter_exit(buffered, select_slot, waiter) },
            // SAFETY: the caller's promise.
            rendezvous => unsafe { enter_senders(rendezvous, select_slot, waiter, owner) },
            _ => unreachable!("{}", NO_SENDER))
    }

    unsafe fn leave(&self, select_slot: &SelectSlot) -> bool {
        each!(self,
            // SAFETY: the caller's promise.
            buffered => unsafe { select_slot.stay.leave(&buffered.exit.queue) },
            // SAFETY: the caller's promise.
            rendezvous => unsafe { select_slot.stay.leave(&rendezvous.senders) },
            _ => unreachable!("{}", NO_SENDER))
    }

    unsafe fn accept(&self, select_slot: &SelectSlot, token: &mut SelectToken) -> bool {
        let wait_slot = select_slot.stay.data();
        token.how = match &self.channel.flavour {
            Flavour::Rendezvous(_) if !wait_slot.handshake.get().is_null() => {
                How::Promised(wait_slot.handshake.get())
            }
            Flavour::Ring(_) | Flavour::Blocks(_) if wait_slot.is_promised.get() => How::Reserved,
            _ => How::Not,
        };
        !matches!(token.how, How::Not)
    }

    unsafe fn abandon(&self, token: &SelectToken) {
        match token.how {
            How::Reserved => each!(self,
                buffered => drop(buffered.send_reserved(None)),
                _rendezvous => (),
                _ => ()),
            // SAFETY: the caller's promise.
            How::Promised(handshake) => unsafe { end::<T>(handshake, None) },
            How::Not | How::Closed | How::Received | How::Unbounded => {}
        }
    }

    fn next(&self) -> Option<Instant> {
        None
    }

    fn unready_stamp(&self) -> Option<u64> {
        each!(self,
            buffered => buffered.full_stamp(),
            rendezvous => rendezvous.no_receiver_stamp(),
            _ => unreachable!("{}", NO_SENDER))
    }

    fn is_unready_since(&self, stamp: u64) -> bool {
        each!(self,
            buffered => buffered.is_full_since(stamp),
            rendezvous => rendezvous.has_no_receiver_since(stamp),
            _ => unreachable!("{}", NO_SENDER))
    }

    fn is_ready(&self) -> bool {
        each!(self,
            buffered => buffered.has_room_or_end(),
            rendezvous => rendezvous.has_receiver(ptr::null()) || rendezvous.is_closed(),
            _ => unreachable!("{}", NO_SENDER))
    }

    unsafe fn enter_to_watch(&self, stay: &Stay<()>, waiter: Waiter) -> Entered {
        each!(self,
            // SAFETY: the caller's promise.
            buffered => unsafe { buffered.watchers.enter(stay, waiter, || self.is_ready()) },
            // SAFETY: the caller's promise.
            rendezvous => unsafe { rendezvous.watchers.enter(stay, waiter, || self.is_ready()) },
            _ => unreachable!("{}", NO_SENDER))
    }

    unsafe fn leave_watching(&self, stay: &Stay<()>) {
        each!(self,
            // SAFETY: the caller's promise.
            buffered => unsafe { buffered.watchers.leave(stay) },
            // SAFETY: the caller's promise.
            rendezvous => unsafe { rendezvous.watchers.leave(stay) },
            _ => ());
    }
}

impl<T> Sender<T> {
    /// Completes the operation that was selected.
    ///
    /// # Errors
    ///
    /// Returns an error if all receivers are gone.
    ///
    /// # Safety
    ///
    /// It was selected by this handle, and is not completed.
    pub(super) unsafe fn send_selected(&self, how: How, message: T) -> Result<(), T> {
        match how {
            How::Reserved => each!(self,
                buffered => buffered.send_reserved(Some(message)),
                _rendezvous => Err(message),
                _ => Err(message)),
            How::Unbounded => self.try_send(message).map_err(TrySendError::into_inner),
            How::Promised(handshake) => {
                // SAFETY: the caller's promise.
                unsafe { end(handshake, Some(message)) };
                Ok(())
            }
            How::Not | How::Closed | How::Received => Err(message),
        }
    }
}

/// Ends a handshake, with or without the promised message.
///
/// # Safety
///
/// The message was promised to a receiver of messages of this type, and this is the only call.
unsafe fn end<T>(handshake: *const Handshake, message: Option<T>) {
    // SAFETY: the invariant of `How::Promised`.
    let handshake = unsafe { &*handshake };
    // SAFETY: the caller's promise.
    unsafe { handshake.end(message) };
}

/// Enters the queue of receivers that wait for a message.
///
/// # Safety
///
/// The contract of [`Port::enter`] applies.
unsafe fn enter_entrance<T, S: Store<T>>(
    buffered: &Buffered<T, S>,
    select_slot: &SelectSlot,
    waiter: Waiter,
) -> Entered {
    let queue = &buffered.entrance.queue;
    let place = || buffered.has_to_wait_for_message().then_some(Place::Back);
    // SAFETY: the caller's promise.
    unsafe { select_slot.stay.enter(queue, waiter, |_, _| place(), |_, _| ()) }
}

/// Enters the queue of senders that wait for room.
///
/// # Safety
///
/// The contract of [`Port::enter`] applies.
unsafe fn enter_exit<T, S: Store<T>>(
    buffered: &Buffered<T, S>,
    select_slot: &SelectSlot,
    waiter: Waiter,
) -> Entered {
    let queue = &buffered.exit.queue;
    let place = || buffered.has_to_wait_for_room().then_some(Place::Back);
    // SAFETY: the caller's promise.
    unsafe { select_slot.stay.enter(queue, waiter, |_, _| place(), |_, _| ()) }
}

/// Enters the queue of receivers of a rendezvous.
///
/// # Safety
///
/// The contract of [`Port::enter`] applies.
unsafe fn enter_receivers<T>(
    rendezvous: &Rendezvous<T>,
    select_slot: &SelectSlot,
    waiter: Waiter,
    owner: *const (),
) -> Entered {
    // SAFETY: the caller's promise.
    let entered = unsafe {
        select_slot.stay.enter(
            &rendezvous.receivers,
            waiter,
            |receivers, _| rendezvous.place_to_receive(receivers, owner),
            |_, _| (),
        )
    };
    rendezvous.watchers.tell();
    entered
}

/// Enters the queue of senders of a rendezvous.
///
/// The sender enters its queue before it looks at the other one, since it could not hold both locks
/// in this order. A receiver looks at this queue when it has announced itself in its own, under
/// both locks. So one of the two finds the other.
///
/// # Safety
///
/// The contract of [`Port::enter`] applies.
unsafe fn enter_senders<T>(
    rendezvous: &Rendezvous<T>,
    select_slot: &SelectSlot,
    waiter: Waiter,
    owner: *const (),
) -> Entered {
    let place = || rendezvous.place_to_send();
    // SAFETY: the caller's promise.
    let entered = unsafe { select_slot.stay.enter(&rendezvous.senders, waiter, |_, _| place(), |_, _| ()) };
    rendezvous.watchers.tell();
    if entered != Entered::Waits || !rendezvous.has_receiver(owner) {
        return entered;
    }
    // SAFETY: the caller is the waiter, and has not returned from its wait.
    match unsafe { waiter.claim(Cause::Event) } {
        Some(own) => {
            own.go();
            Entered::Took
        }
        None => Entered::Ended,
    }
}
