//! The end of a fiber, as its one handle sees it: whether it has come, and who waits for it. Knows no result.
//!
//! | from \ by | the fiber ends | the handle's owner waits | gives up waiting | drops the handle |
//! | --- | --- | --- | --- | --- |
//! | running | done | waited | – | detached |
//! | waited | done, **wakes** | – | running | – |
//! | detached | done, **drops the result** | – | – | – |
//! | done | – | (does not wait) | (it is done) | **drops the result** |
//!
//! # Safety
//!
//! Trusted with the waiter: the handle's owner writes it before it says *waited*, whoever changes that takes it.
#![expect(unsafe_code, reason = "a cell that a word hands over")]

use std::cell::UnsafeCell;

use super::sync::{AtomicU32, Ordering};
use super::waiter::Waiter;

const RUNNING: u32 = 0;
const WAITED: u32 = 1;
const DETACHED: u32 = 2;
const DONE: u32 = 3;

/// The word, and who waits.
pub(crate) struct Join {
    word: AtomicU32,
    /// # Invariant
    ///
    /// Touched by the handle's owner while the word is *running*, and by whoever changes it from *waited*.
    waiter: UnsafeCell<Option<Waiter>>,
}

// SAFETY: the word hands the waiter over, and a waiter may be sent.
unsafe impl Sync for Join {}

/// What the end of a fiber leaves to do.
#[must_use]
pub(crate) enum AtEnd {
    /// The handle will take the result.
    Nothing,
    /// Its owner waits.
    Wake(Waiter),
    /// Nobody wants the result.
    DropResult,
}

impl Join {
    pub(crate) fn new() -> Self {
        Self { word: AtomicU32::new(RUNNING), waiter: UnsafeCell::new(None) }
    }

    /// Whether the result is there.
    pub(crate) fn is_done(&self) -> bool {
        // Acquire: pairs with the release of `finish`.
        self.word.load(Ordering::Acquire) == DONE
    }

    /// The fiber has ended, and its result is there.
    pub(crate) fn finish(&self) -> AtEnd {
        // Release: the result. Acquire: the waiter.
        match self.word.swap(DONE, Ordering::AcqRel) {
            RUNNING => AtEnd::Nothing,
            // SAFETY: the invariant: it was *waited* until now.
            WAITED => match unsafe { (*self.waiter.get()).take() } {
                Some(waiter) => AtEnd::Wake(waiter),
                None => AtEnd::Nothing,
            },
            _ => AtEnd::DropResult,
        }
    }

    /// Has the waiter woken at the end. False, if that has come. For the handle's owner.
    pub(crate) fn wait(&self, waiter: Waiter) -> bool {
        // SAFETY: the invariant: it is *running*, or done and nobody looks.
        unsafe { *self.waiter.get() = Some(waiter) };
        // Release: the waiter. Acquire: the result.
        self.word.compare_exchange(RUNNING, WAITED, Ordering::Release, Ordering::Acquire).is_ok()
    }

    /// Does not wait any more. False, if the end has come. For the handle's owner.
    pub(crate) fn give_up(&self) -> bool {
        let is_ours =
            self.word.compare_exchange(WAITED, RUNNING, Ordering::Relaxed, Ordering::Acquire).is_ok();
        if is_ours {
            // SAFETY: the invariant: it was *waited* until now, and is *running*.
            let waiter = unsafe { (*self.waiter.get()).take() };
            waiter.into_iter().for_each(Waiter::release);
        }
        is_ours
    }

    /// Nobody will ask. False, if the result is there already, for the caller to drop.
    pub(crate) fn detach(&self) -> bool {
        self.word.compare_exchange(RUNNING, DETACHED, Ordering::Release, Ordering::Acquire).is_ok()
    }
}
