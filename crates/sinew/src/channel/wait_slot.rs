//! The wait slot: what a waiter at one end of a channel tells the other side, and where the two
//! exchange a message. Knows no queue. It does not know the type of the message either, so a select
//! waits in several channels with one kind of wait slot.
//!
//! # Safety
//!
//! Trusted with places for messages as pointers without a type: the queues of a channel contain
//! only wait slots with places for its messages.
#![expect(unsafe_code, reason = "places of messages are pointers without a type")]

use std::cell::Cell;
use std::ptr;

use crate::rt::{Claimed, Limit, Locked, Place as InLine, Queue, WaitKind, pick};

/// A place for a message of this type.
pub(super) type MessagePlace<T> = Cell<Option<T>>;

/// The data of one waiter in a queue.
pub(super) struct WaitSlot {
    /// # Invariant
    ///
    /// Null, or a [`MessagePlace`] for messages of the channel in whose queue the wait slot is,
    /// valid while it is there. It belongs to the holder of the lock of that queue until the waiter
    /// is claimed.
    place: Cell<*const ()>,
    /// # Invariant
    ///
    /// Null, or a [`Handshake`] for messages of the same channel, valid until the handshake has
    /// ended.
    pub(super) handshake: Cell<*const Handshake>,
    /// Set for a sender that produces its message late when it is let in, and for a receiver that
    /// has to wait at its handshake.
    pub(super) is_promised: Cell<bool>,
    /// The same pointer in all wait slots of one select.
    owner: Cell<*const ()>,
}

// SAFETY: what it points to is passed on with the lock of its queue. Messages may be sent to other
// threads: the channels ensure that.
unsafe impl Send for WaitSlot {}

impl WaitSlot {
    /// Makes a wait slot with a place, which contains a message or is to receive one.
    #[inline]
    pub(super) fn with<T>(place: &MessagePlace<T>) -> Self {
        let wait_slot = Self::without();
        wait_slot.place.set(ptr::from_ref(place).cast());
        wait_slot
    }

    /// Makes a wait slot for a sender that produces its message when it is let in.
    #[inline]
    pub(super) fn without() -> Self {
        let nowhere = || Cell::new(ptr::null());
        Self {
            place: nowhere(),
            handshake: Cell::new(ptr::null()),
            is_promised: Cell::new(false),
            owner: nowhere(),
        }
    }

    /// Adds the handshake at which the waiter waits when a message is promised to it.
    pub(super) fn meeting_at(self, handshake: *const Handshake) -> Self {
        self.handshake.set(handshake);
        self
    }

    /// Sets the place, the handshake and the owner. The wait slot is in no queue.
    pub(super) fn settle(&self, place: *const (), handshake: *const Handshake, owner: *const ()) {
        self.place.set(place);
        self.handshake.set(handshake);
        self.owner.set(owner);
    }

    /// Returns whether this wait slot belongs to another select than `owner`, or `owner` is null.
    pub(super) fn is_of_another(&self, owner: *const ()) -> bool {
        owner.is_null() || self.owner.get() != owner
    }

    /// Returns whether the message is not produced yet.
    #[inline]
    pub(super) fn is_promise(&self) -> bool {
        self.place.get().is_null()
    }

    /// Exchanges the message in the place with that of `with`. Does nothing if there is no place.
    ///
    /// # Safety
    ///
    /// The wait slot is in a queue of a channel for messages of this type, and the caller holds the
    /// lock of that queue.
    #[inline]
    pub(super) unsafe fn exchange<T>(&self, with: &MessagePlace<T>) {
        // SAFETY: the invariant of `place`.
        if let Some(place) = unsafe { self.place.get().cast::<MessagePlace<T>>().as_ref() } {
            place.swap(with);
        }
    }

    /// Copies `message` into the place, which is empty or contains another copy.
    ///
    /// # Safety
    ///
    /// The contract of [`exchange`](Self::exchange) applies. There is a place, and either the
    /// message or its copy is forgotten afterwards.
    #[inline]
    unsafe fn copy<T>(&self, message: &Option<T>) {
        let place = self.place.get().cast::<MessagePlace<T>>();
        // SAFETY: the invariant of `place`, and the caller's promise. A cell has the same layout as
        // its content.
        unsafe { ptr::copy_nonoverlapping(message, place.cast_mut().cast(), 1) };
    }
}

/// Hands a message to the first waiting receiver. Returns `None` if no receiver waits, or if there
/// is no message.
///
/// # Safety
///
/// It is the queue of the receivers of a channel for messages of this type, and all wait slots in
/// it have places.
#[inline]
pub(super) unsafe fn hand_over<E, T>(
    receivers: &mut Locked<'_, E, WaitSlot>,
    message: &mut Option<T>,
) -> Option<Claimed> {
    while message.is_some() && !receivers.is_empty() {
        // SAFETY: the caller's promise. Either the copy is forgotten, or the message.
        let leave = |wait_slot: &WaitSlot| unsafe { wait_slot.copy(message) };
        // SAFETY: as above. An empty place is overwritten like a copy.
        let take_back = |wait_slot: &WaitSlot| unsafe { wait_slot.copy(&None::<T>) };
        if let Some(claimed) = receivers.try_claim(pick::First, leave, take_back) {
            // SAFETY: it is overwritten, not dropped: the message belongs to the receiver, which
            // may use it already.
            unsafe { ptr::write(message, None) };
            return Some(claimed);
        }
    }
    None
}

/// Where a receiver waits for a message that was promised to it. The sender leaves the message
/// here, or reports that there is none.
pub(super) struct Handshake {
    /// Whether the handshake has ended.
    queue: Queue<bool, ()>,
    /// # Invariant
    ///
    /// A [`MessagePlace`] of the receiver, valid until the handshake has ended.
    place: Cell<*const ()>,
}

impl Handshake {
    pub(super) fn at<T>(place: &MessagePlace<T>) -> Self {
        Self::nowhere(ptr::from_ref(place).cast())
    }

    /// Makes a handshake at a place without a type.
    pub(super) fn nowhere(place: *const ()) -> Self {
        Self { queue: Queue::new(false), place: Cell::new(place) }
    }

    /// Sets the place. The handshake has not begun.
    pub(super) fn settle(&self, place: *const ()) {
        self.place.set(place);
    }

    /// Waits until the handshake has ended. Called once, by the receiver.
    pub(super) fn wait(&self) {
        let is_due = |is_over: &bool| (!is_over).then_some(InLine::Back);
        // No limit applies: the promise was accepted, and the sender will write to this stack
        // frame.
        let _ = self.queue.wait(WaitKind::Handover, (), Limit::NEVER.later(), |is_over, ()| is_due(is_over));
        // The sender may have claimed this waiter and still hold the lock. When the lock is free,
        // it does not access the handshake any more.
        drop(self.queue.lock());
    }

    /// Ends the handshake, with a message if there is one. `self` may be freed as soon as the lock
    /// is released.
    ///
    /// # Safety
    ///
    /// The handshake is for messages of this type, its receiver was promised a message by the
    /// caller, and this is the only call.
    pub(super) unsafe fn end<T>(&self, message: Option<T>) {
        // SAFETY: the invariant of `place`. The receiver waits, and reads the place when the
        // handshake has ended.
        unsafe { &*self.place.get().cast::<MessagePlace<T>>() }.set(message);
        let mut is_over = self.queue.lock();
        *is_over = true;
        let claimed = is_over.claim(pick::First, |()| (), |()| ());
        drop(is_over);
        claimed.into_iter().for_each(Claimed::go);
    }
}
