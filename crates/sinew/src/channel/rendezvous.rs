//! A channel that stores no message: sender and receiver meet. Knows neither counts nor slots. The
//! protocol, and why a sender and a receiver cannot miss each other, is in the README beside this
//! file.
//!
//! # Safety
//!
//! Trusted with wait slots: those in its queues have places for its messages.
#![expect(unsafe_code, reason = "places of messages are pointers without a type")]

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::sync::Mutex;

use super::buffered::SendRefused;
use super::reason::{NotReceived, NotSent};
use super::wait_slot::{Handshake, MessagePlace, WaitSlot, hand_over};
use super::watchers::Watchers;
use crate::rt::sync::{AtomicBool, AtomicUsize, Ordering};
use crate::rt::{self, Claimed, Limit, Locked, Outcome, Place, Queue, WaitKind, pick};

/// The channel.
pub(super) struct Rendezvous<T> {
    pub(super) receivers: Queue<(), WaitSlot>,
    pub(super) senders: Queue<(), WaitSlot>,
    /// Counts the waiters that have entered `receivers`. Changed under its lock.
    receivers_entered: AtomicUsize,
    /// Counts the waiters that have entered `senders`. Changed under its lock.
    senders_entered: AtomicUsize,
    /// Changed under the lock of `receivers`.
    is_closed: AtomicBool,
    pub(super) watchers: Watchers,
    /// Messages pass from one thread to another.
    message: PhantomData<Mutex<T>>,
}

/// Under which condition a receiver meets a sender that has not produced its message yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meets {
    /// Only if other fibers of its worker run while it waits for the message: one of them may be
    /// the sender.
    IfOthersRun,
    /// Wherever the receiver may wait at all, since it would wait for a sender anyway.
    Anyhow,
}

/// What a receiver that does not wait has met.
#[derive(PartialEq, Eq)]
enum Met {
    Nobody,
    /// The message is in the place.
    Message,
    /// The message will be in the place when the handshake has ended.
    Promise,
}

impl<T> Rendezvous<T> {
    pub(super) fn new() -> Self {
        Self {
            receivers: Queue::new(()),
            senders: Queue::new(()),
            receivers_entered: AtomicUsize::new(0),
            senders_entered: AtomicUsize::new(0),
            is_closed: AtomicBool::new(false),
            watchers: Watchers::new(),
            message: PhantomData,
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        // Acquire: pairs with the release of `close`.
        self.is_closed.load(Ordering::Acquire)
    }

    /// Sends a message if a receiver waits for it.
    ///
    /// # Errors
    ///
    /// Returns an error if no receiver waits, or if all receivers are gone.
    #[inline(never)]
    pub(super) fn try_send(&self, message: T) -> Result<(), SendRefused<T>> {
        let mut receivers = self.receivers.lock();
        if self.is_closed() {
            return Err(SendRefused::Closed(message));
        }
        let mut message = Some(message);
        // SAFETY: it is the queue of this channel, in which all wait slots have places.
        let met = unsafe { hand_over(&mut receivers, &mut message) };
        drop(receivers);
        met.into_iter().for_each(Claimed::go);
        message.map_or(Ok(()), |message| Err(SendRefused::Full(message)))
    }

    /// Promises a message to a waiting receiver, which then waits at its handshake. Returns `None`
    /// if no receiver waits.
    ///
    /// # Errors
    ///
    /// Returns an error if all receivers are gone.
    pub(super) fn promise(&self) -> Result<Option<*const Handshake>, ()> {
        let mut receivers = self.receivers.lock();
        if self.is_closed() {
            return Err(());
        }
        let handshake = Cell::new(ptr::null());
        let swap = |wait_slot: &WaitSlot| {
            wait_slot.is_promised.set(!wait_slot.is_promised.get());
            handshake.set(wait_slot.handshake.get());
        };
        let met = receivers.claim(pick::First, &swap, &swap);
        drop(receivers);
        Ok(met.map(|claimed| {
            claimed.go();
            handshake.get()
        }))
    }

    /// Sends a message, and waits until a receiver takes it.
    ///
    /// # Errors
    ///
    /// Returns an error if all receivers are gone, or if the limit is reached.
    #[inline(never)]
    pub(super) fn send(&self, mut message: T, mut limit: Limit) -> Result<(), NotSent<T>> {
        rt::spend(1);
        let place = Cell::new(None);
        loop {
            message = match self.try_send(message) {
                Ok(()) => return Ok(()),
                Err(SendRefused::Closed(message)) => return Err(NotSent::Closed(message)),
                Err(SendRefused::Full(message)) => message,
            };
            place.set(Some(message));
            let enter = |_: &mut Locked<'_, (), WaitSlot>, _: &WaitSlot| {
                self.receivers.seems_empty().then(|| self.place_to_send()).flatten()
            };
            let (outcome, _) = self.senders.wait_then(
                WaitKind::Send,
                WaitSlot::with(&place),
                limit.next_wait(),
                enter,
                || self.watchers.tell(),
            );
            let Some(left) = place.take() else { return Ok(()) };
            message = match outcome.into_result() {
                Err(why) => return Err(NotSent::gave_up(left, why)),
                Ok(()) => left,
            };
        }
    }

    /// Receives the message of a waiting sender. Returns `None` if no sender waits.
    pub(super) fn try_receive(&self) -> Option<T> {
        self.receive_now(Meets::IfOthersRun)
    }

    /// Receives the message of a waiting sender. Returns `None` if there is no sender that the
    /// caller may meet.
    #[inline(never)]
    pub(super) fn receive_now(&self, meets: Meets) -> Option<T> {
        let place = Cell::new(None);
        self.receive_into(&place, meets);
        place.into_inner()
    }

    /// Receives the message of a waiting sender into `place`, if a sender waits. If the message is
    /// promised, waits for it.
    fn receive_into(&self, place: &MessagePlace<T>, meets: Meets) {
        loop {
            let handshake = Handshake::at(place);
            if self.meet(place, &handshake, meets) != Met::Promise {
                return;
            }
            handshake.wait();
            // Another sender may wait behind the sender that broke its promise.
            if is_filled(place) {
                return;
            }
        }
    }

    fn meet(&self, place: &MessagePlace<T>, handshake: &Handshake, meets: Meets) -> Met {
        let mut senders = self.senders.lock();
        while let Some(wait_slot) = senders.first() {
            let is_promise = wait_slot.is_promise();
            if !can_meet(wait_slot, meets) {
                return self.meet_behind(senders, place);
            }
            let to_meeting = |at| move |wait_slot: &WaitSlot| wait_slot.handshake.set(at);
            // SAFETY: it is the queue of this channel.
            let exchange = |wait_slot: &WaitSlot| unsafe { wait_slot.exchange(place) };
            let claimed = match is_promise {
                true => senders.try_claim(
                    pick::First,
                    to_meeting(ptr::from_ref(handshake)),
                    to_meeting(ptr::null()),
                ),
                false => senders.try_claim(pick::First, exchange, exchange),
            };
            if let Some(claimed) = claimed {
                drop(senders);
                claimed.go();
                return if is_promise { Met::Promise } else { Met::Message };
            }
        }
        Met::Nobody
    }

    /// Meets the first sender that has its message, for a receiver that may not wait for the
    /// others.
    #[cold]
    fn meet_behind(&self, mut senders: Locked<'_, (), WaitSlot>, place: &MessagePlace<T>) -> Met {
        // SAFETY: it is the queue of this channel.
        let exchange = |wait_slot: &WaitSlot| unsafe { wait_slot.exchange(place) };
        let has_message = pick::Such(|wait_slot: &WaitSlot| !wait_slot.is_promise());
        let claimed = senders.claim(has_message, exchange, exchange);
        drop(senders);
        claimed.map_or(Met::Nobody, |claimed| {
            claimed.go();
            Met::Message
        })
    }

    /// Receives a message, and waits until a sender has one.
    ///
    /// # Errors
    ///
    /// Returns an error if all senders are gone, or if the limit is reached.
    #[inline(never)]
    pub(super) fn receive(&self, mut limit: Limit) -> Result<T, NotReceived> {
        rt::spend(1);
        let place = Cell::new(None);
        loop {
            if let Some(message) = self.receive_now(Meets::Anyhow) {
                return Ok(message);
            }
            let handshake = Handshake::at(&place);
            let wait_slot = WaitSlot::with(&place).meeting_at(&raw const handshake);
            let enter = |receivers: &mut Locked<'_, (), WaitSlot>, _: &WaitSlot| {
                self.place_to_receive(receivers, ptr::null())
            };
            let (outcome, wait_slot) =
                self.receivers.wait_then(WaitKind::Receive, wait_slot, limit.next_wait(), enter, || {
                    self.watchers.tell()
                });
            if matches!(outcome, Outcome::Woken) && wait_slot.is_promised.get() {
                handshake.wait();
            }
            if let Some(message) = place.take() {
                return Ok(message);
            }
            if self.is_closed() {
                return self.try_receive().ok_or(NotReceived::Closed);
            }
            outcome.into_result()?;
        }
    }

    /// Returns where a receiver enters `receivers`, or `None` if it need not wait. A sending
    /// operation of the same `owner` does not count as a sender.
    pub(super) fn place_to_receive(
        &self,
        receivers: &mut Locked<'_, (), WaitSlot>,
        owner: *const (),
    ) -> Option<Place> {
        receivers.announce();
        let has_to_wait = !self.has_sender(owner) && !self.is_closed();
        has_to_wait.then(|| enters(&self.receivers_entered))
    }

    /// Returns where a sender that has found no receiver enters `senders`, or `None` if the channel
    /// is closed. The caller holds the lock of `senders`.
    pub(super) fn place_to_send(&self) -> Option<Place> {
        (!self.is_closed()).then(|| enters(&self.senders_entered))
    }

    /// Returns whether a sender waits that does not belong to `owner`.
    pub(super) fn has_sender(&self, owner: *const ()) -> bool {
        self.senders.lock().has_such(|wait_slot| wait_slot.is_of_another(owner))
    }

    /// Returns whether a receiver waits that does not belong to `owner`.
    pub(super) fn has_receiver(&self, owner: *const ()) -> bool {
        self.receivers.lock().has_such(|wait_slot| wait_slot.is_of_another(owner))
    }

    /// Returns a stamp if nothing can be received: senders are left, but none waits whose message
    /// the caller could take. See `buffered/stamp.rs`.
    pub(super) fn no_sender_stamp(&self) -> Option<u64> {
        let senders = self.senders.lock();
        let is_ready =
            self.is_closed() || senders.has_such(|wait_slot| can_meet(wait_slot, Meets::IfOthersRun));
        // Relaxed: changed under the lock.
        (!is_ready).then(|| self.senders_entered.load(Ordering::Relaxed) as u64)
    }

    /// Returns whether nothing could be received at any moment since `stamp` was taken. Only a
    /// sender that enters the queue changes that.
    pub(super) fn has_no_sender_since(&self, stamp: u64) -> bool {
        // Acquire: pairs with the release of `enters`.
        self.senders_entered.load(Ordering::Acquire) as u64 == stamp && !self.is_closed()
    }

    /// Returns a stamp if nothing can be sent: no receiver waits, and receivers are left.
    pub(super) fn no_receiver_stamp(&self) -> Option<u64> {
        let receivers = self.receivers.lock();
        let is_ready = self.is_closed() || !receivers.is_empty();
        // Relaxed: changed under the lock.
        (!is_ready).then(|| self.receivers_entered.load(Ordering::Relaxed) as u64)
    }

    /// Returns whether nothing could be sent at any moment since `stamp` was taken.
    pub(super) fn has_no_receiver_since(&self, stamp: u64) -> bool {
        // Acquire: pairs with the release of `enters`.
        self.receivers_entered.load(Ordering::Acquire) as u64 == stamp && !self.is_closed()
    }

    /// Closes the channel and wakes all waiters. No sender and receiver meet after this.
    pub(super) fn close(&self) {
        let receivers = self.receivers.lock();
        // Release: pairs with the acquire of `is_closed`.
        self.is_closed.store(true, Ordering::Release);
        drop(receivers);
        self.receivers.wake_all(|_| ());
        self.senders.wake_all(|_| ());
        self.watchers.tell();
    }
}

/// Returns whether a receiver may meet the sender of this wait slot. A receiver that may not wait
/// cannot meet a sender that has not produced its message yet.
fn can_meet(wait_slot: &WaitSlot, meets: Meets) -> bool {
    !wait_slot.is_promise()
        || match meets {
            Meets::IfOthersRun => rt::lets_others_run(),
            Meets::Anyhow => rt::may_wait(),
        }
}

/// Counts a waiter that enters a queue, and returns its place in it. The caller holds the lock of
/// the queue.
fn enters(entered: &AtomicUsize) -> Place {
    let count = entered.load(Ordering::Relaxed);
    // Release: pairs with the acquire of a thread that looks for entries.
    entered.store(count + 1, Ordering::Release);
    Place::Back
}

fn is_filled<T>(place: &MessagePlace<T>) -> bool {
    let message = place.take();
    let is_filled = message.is_some();
    place.set(message);
    is_filled
}
