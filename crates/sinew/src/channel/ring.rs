//! A ring with one slot for each message of the capacity.
//!
//! # Safety
//!
//! Trusted with slots that one side empties and the other fills, by the contracts of [`Store`].
#![expect(unsafe_code, reason = "messages are in places that may be empty")]

use std::convert::Infallible;

use super::slot::{Slot, slots};
use super::store::Store;

/// The ring.
pub(super) struct Ring<T> {
    slots: Box<[Slot<T>]>,
}

// SAFETY: a message is put by one thread and taken later by another, which `T: Send` allows.
unsafe impl<T: Send> Sync for Ring<T> {}
// SAFETY: messages move with it, which `T: Send` allows.
unsafe impl<T: Send> Send for Ring<T> {}

impl<T> Ring<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Self { slots: slots(capacity) }
    }

    #[inline]
    fn advance(&self, place: &mut usize) -> &Slot<T> {
        let slot = &self.slots[*place];
        *place = if *place + 1 == self.slots.len() { 0 } else { *place + 1 };
        slot
    }
}

// SAFETY: both positions visit the slots in the same order, so the slot that is emptied contains
// the oldest message.
unsafe impl<T> Store<T> for Ring<T> {
    type In = usize;
    type Out = usize;
    type Spare = Infallible;

    fn ends() -> (usize, usize) {
        (0, 0)
    }

    #[inline]
    fn has_place(&self, _: &mut usize, _: &mut Option<Infallible>) -> bool {
        true
    }

    fn more(&self) -> Infallible {
        unreachable!("a ring has all its places from the beginning")
    }

    #[inline]
    unsafe fn put(&self, end: &mut usize, message: T) {
        // SAFETY: the caller's promise: there are fewer messages than slots, so this one is empty.
        unsafe { self.advance(end).put(message) };
    }

    #[inline]
    unsafe fn take(&self, end: &mut usize) -> (T, Option<Infallible>) {
        // SAFETY: the caller's promise.
        (unsafe { self.advance(end).take() }, None)
    }

    fn keep(&self, spare: Infallible) {
        match spare {}
    }

    unsafe fn end(&mut self, _: usize, _: usize) {}
}
