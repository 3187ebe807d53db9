//! The waiter for the end of a fiber. The [`Ending`] decides when it is woken.
//!
//! # Safety
//!
//! Trusted with the waiter: the handle's owner writes it before it announces that it waits, and the
//! thread that changes that state takes it.
#![expect(unsafe_code, reason = "a cell that a word hands over")]

use std::cell::UnsafeCell;

use super::join_state::{AtEnd, Ending, Reference};
use super::waiter::Waiter;

/// The ending of a fiber, and the waiter for it.
pub(crate) struct Join {
    pub(crate) ending: Ending,
    /// # Invariant
    ///
    /// Touched by the handle's owner until it has announced that it waits, and then by the thread
    /// that changes that state.
    waiter: UnsafeCell<Option<Waiter>>,
}

// SAFETY: the word hands the waiter over, and a waiter is `Send`.
unsafe impl Sync for Join {}

impl Join {
    pub(crate) fn new() -> Self {
        Self { ending: Ending::new(), waiter: UnsafeCell::new(None) }
    }

    /// Records that the fiber has ended and its result exists. Also returns the waiter to wake.
    #[inline]
    pub(crate) fn finish(&self, reference: Reference) -> (AtEnd, Option<Waiter>) {
        let end = self.ending.finish(reference);
        if end != AtEnd::Wake {
            return (end, None);
        }
        // SAFETY: the invariant: this thread has changed the state.
        let waiter = unsafe { (*self.waiter.get()).take() };
        (end, waiter)
    }

    /// Registers the waiter, to be woken at the end. Returns false if the fiber has ended. Called
    /// by the handle's owner.
    pub(crate) fn wait(&self, waiter: Waiter) -> bool {
        // SAFETY: the invariant: the owner does not wait, or the fiber is done and no thread looks.
        unsafe { *self.waiter.get() = Some(waiter) };
        self.ending.wait()
    }

    /// Unregisters the waiter. Returns false if the fiber has ended. Called by the handle's owner.
    pub(crate) fn give_up(&self) -> bool {
        let is_ours = self.ending.give_up();
        if is_ours {
            // SAFETY: the invariant: this thread has changed the state.
            let waiter = unsafe { (*self.waiter.get()).take() };
            waiter.into_iter().for_each(Waiter::release);
        }
        is_ours
    }
}
