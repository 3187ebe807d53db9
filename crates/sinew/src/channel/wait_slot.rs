//! What one who waits at an end of a channel tells the side that comes to the other end, and where
//! the two leave a message. Knows no queue, and not the type of the message, so that those who wait
//! in several channels at once have one kind of wait slot for all of them.
//!
//! # Safety
//!
//! Trusted with places for messages as pointers without a type: the queues of a channel have wait
//! slots with places for its messages only.
#![expect(unsafe_code, reason = "places of messages are pointers without a type")]

use std::cell::Cell;
use std::ptr;

use crate::rt::{Claimed, Limit, Locked, Place as InLine, Queue, WaitKind, pick};

/// A place for a message of this type.
pub(super) type MessagePlace<T> = Cell<Option<T>>;

/// One who waits.
pub(super) struct WaitSlot {
    /// # Invariant
    ///
    /// Null, or a [`MessagePlace`] for messages of the channel in whose queue the wait slot is, for as
    /// long as it is there. It belongs to the holder of the lock of that queue, until the one who
    /// waits is claimed.
    place: Cell<*const ()>,
    /// # Invariant
    ///
    /// Null, or a [`Handshake`] for messages of the same channel, which is there until it is over.
    pub(super) handshake: Cell<*const Handshake>,
    /// One who makes its message when it knows that it may send it was let in, or one who receives
    /// is to go to its handshake.
    pub(super) is_promised: Cell<bool>,
    /// All wait slots of one who waits in several channels at once have the same.
    owner: Cell<*const ()>,
}

// SAFETY: what it points to is passed on with the lock of its queue, and messages may be sent: channels see to that.
unsafe impl Send for WaitSlot {}

impl WaitSlot {
    /// One who has a place, with a message or for one.
    #[inline]
    pub(super) fn with<T>(place: &MessagePlace<T>) -> Self {
        let wait_slot = Self::without();
        wait_slot.place.set(ptr::from_ref(place).cast());
        wait_slot
    }

    /// One who has no message yet, and makes it when it is let in.
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

    /// The same, with somewhere to go when a message is promised.
    pub(super) fn meeting_at(self, handshake: *const Handshake) -> Self {
        self.handshake.set(handshake);
        self
    }

    /// Has a place from now on, without a type, and an owner. The wait slot is in no queue.
    pub(super) fn settle(&self, place: *const (), handshake: *const Handshake, owner: *const ()) {
        self.place.set(place);
        self.handshake.set(handshake);
        self.owner.set(owner);
    }

    /// Whether it is not one of this one's own, if it has several.
    pub(super) fn is_of_another(&self, owner: *const ()) -> bool {
        owner.is_null() || self.owner.get() != owner
    }

    /// Whether its message is yet to be made.
    #[inline]
    pub(super) fn is_promise(&self) -> bool {
        self.place.get().is_null()
    }

    /// Exchanges what is in its place; nothing, if it has none.
    ///
    /// # Safety
    ///
    /// The wait slot is in a queue of a channel for messages of this type, and the caller has the
    /// lock of that.
    #[inline]
    pub(super) unsafe fn exchange<T>(&self, with: &MessagePlace<T>) {
        // SAFETY: the invariant of `place`.
        if let Some(place) = unsafe { self.place.get().cast::<MessagePlace<T>>().as_ref() } {
            place.swap(with);
        }
    }

    /// Has a copy of this in its place, where there is nothing, or a copy.
    ///
    /// # Safety
    ///
    /// As for [`exchange`](Self::exchange); it has a place; and of a message and its copy one is forgotten.
    #[inline]
    unsafe fn copy<T>(&self, message: &Option<T>) {
        let place = self.place.get().cast::<MessagePlace<T>>();
        // SAFETY: the invariant of `place`, and the caller's promise. A cell is as what is in it.
        unsafe { ptr::copy_nonoverlapping(message, place.cast_mut().cast(), 1) };
    }
}

/// Hands a message to the first one who waits for one, if somebody does, and there is a message.
///
/// # Safety
///
/// It is the queue of those who receive at a channel for such messages, and all have places.
#[inline]
pub(super) unsafe fn hand_over<E, T>(
    receivers: &mut Locked<'_, E, WaitSlot>,
    message: &mut Option<T>,
) -> Option<Claimed> {
    while message.is_some() && !receivers.is_empty() {
        // SAFETY: the caller's promise. Either the copy is forgotten, or the message.
        let leave = |wait_slot: &WaitSlot| unsafe { wait_slot.copy(message) };
        // SAFETY: as above. Nothing is as good as a copy of it.
        let take_back = |wait_slot: &WaitSlot| unsafe { wait_slot.copy(&None::<T>) };
        if let Some(claimed) = receivers.try_claim(pick::First, leave, take_back) {
            // SAFETY: it is written to, and not moved: the message is with another, who may use it by now.
            unsafe { ptr::write(message, None) };
            return Some(claimed);
        }
    }
    None
}

/// Where one who receives waits for a message that was promised to it. The one who has promised leaves it there, or says that it will not.
pub(super) struct Handshake {
    /// Whether it is over.
    queue: Queue<bool, ()>,
    /// # Invariant
    ///
    /// A [`MessagePlace`], of the one who receives, which is there until it is over.
    place: Cell<*const ()>,
}

impl Handshake {
    pub(super) fn at<T>(place: &MessagePlace<T>) -> Self {
        Self::nowhere(ptr::from_ref(place).cast())
    }

    /// The same, at a place without a type.
    pub(super) fn nowhere(place: *const ()) -> Self {
        Self { queue: Queue::new(false), place: Cell::new(place) }
    }

    /// Takes place here. It has not begun.
    pub(super) fn settle(&self, place: *const ()) {
        self.place.set(place);
    }

    /// Waits until it is over. For the one who receives, once.
    pub(super) fn wait(&self) {
        let is_due = |is_over: &bool| (!is_over).then_some(InLine::Back);
        // The promise was accepted, and its maker will write to this frame: there is no way back.
        let _ = self.queue.wait(WaitKind::Handover, (), Limit::NEVER.later(), |is_over, ()| is_due(is_over));
        // The other one may have claimed this one, and have the lock still: it is done with the
        // handshake when that is free.
        drop(self.queue.lock());
    }

    /// Leaves the message, if there is one. This may be gone afterwards.
    ///
    /// # Safety
    ///
    /// It was made for messages of this type, was promised to the caller, and this is the first time.
    pub(super) unsafe fn end<T>(&self, message: Option<T>) {
        // SAFETY: the invariant of `place`: its owner waits, and looks when it is over.
        unsafe { &*self.place.get().cast::<MessagePlace<T>>() }.set(message);
        let mut is_over = self.queue.lock();
        *is_over = true;
        let claimed = is_over.claim(pick::First, |()| (), |()| ());
        drop(is_over);
        claimed.into_iter().for_each(Claimed::go);
    }
}
