//! Who waits for the end of a fiber. When, is up to the [`Ending`].
//!
//! # Safety
//!
//! Trusted with the waiter: the handle's owner writes it before it says that it waits, whoever changes that takes it.
#![expect(unsafe_code, reason = "a cell that a word hands over")]

use std::cell::UnsafeCell;

use super::join_state::{AtEnd, Ending, Reference};
use super::waiter::Waiter;

/// The ending, and who waits for it.
pub(crate) struct Join {
    pub(crate) ending: Ending,
    /// # Invariant
    ///
    /// Touched by the handle's owner while it has not said that it waits, and by whoever changes that.
    waiter: UnsafeCell<Option<Waiter>>,
}

// SAFETY: the word hands the waiter over, and a waiter may be sent.
unsafe impl Sync for Join {}

impl Join {
    pub(crate) fn new() -> Self {
        Self { ending: Ending::new(), waiter: UnsafeCell::new(None) }
    }

    /// The fiber has ended, and its result is there. Also returns whom to wake.
    #[inline]
    pub(crate) fn finish(&self, reference: Reference) -> (AtEnd, Option<Waiter>) {
        let end = self.ending.finish(reference);
        if end != AtEnd::Wake {
            return (end, None);
        }
        // SAFETY: the invariant: it is our change.
        let waiter = unsafe { (*self.waiter.get()).take() };
        (end, waiter)
    }

    /// Has the waiter woken at the end. False, if that has come. For the handle's owner.
    pub(crate) fn wait(&self, waiter: Waiter) -> bool {
        // SAFETY: the invariant: the owner does not wait, or it is done and nobody looks.
        unsafe { *self.waiter.get() = Some(waiter) };
        self.ending.wait()
    }

    /// Does not wait any more. False, if the end has come. For the handle's owner.
    pub(crate) fn give_up(&self) -> bool {
        let is_ours = self.ending.give_up();
        if is_ours {
            // SAFETY: the invariant: it is our change.
            let waiter = unsafe { (*self.waiter.get()).take() };
            waiter.into_iter().for_each(Waiter::release);
        }
        is_ours
    }
}
