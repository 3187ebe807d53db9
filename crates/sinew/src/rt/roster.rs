//! The fibers that have begun on a worker and not ended, as a list through their blocks. Of those that stay, only the worker's
//! thread touches it; those that move have one of their own, behind a lock.
//!
//! # Safety
//!
//! Trusted with the links of the blocks in it: a fiber is in the list from its beginning to its end, and there for as long.
#![expect(unsafe_code, reason = "blocks are linked by pointers")]

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::control::Control;

type Link = Cell<Option<NonNull<Control>>>;

/// The place of a block in the list.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// # Invariant
    ///
    /// Touched only by the thread of the worker on which the fiber has begun; or, if it may move, under the lock of its list.
    before: Link,
    after: Link,
}

/// The list.
///
/// # Invariant
///
/// What it links are fibers that have begun on the list's worker and not ended.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    first: Link,
}

impl Roster {
    /// A fiber begins.
    ///
    /// # Safety
    ///
    /// It is there until [`leave`](Self::leave) is called for it, by whoever may touch the list.
    #[inline]
    pub(crate) unsafe fn enter(&self, control: NonNull<Control>) {
        let second = self.first.replace(Some(control));
        // SAFETY: the caller's promise.
        unsafe { control.as_ref() }.links.after.set(second);
        if let Some(second) = second {
            // SAFETY: the invariant of the list.
            unsafe { second.as_ref() }.links.before.set(Some(control));
        }
    }

    /// It ends.
    ///
    /// # Safety
    ///
    /// It is in this list.
    #[inline]
    pub(crate) unsafe fn leave(&self, control: NonNull<Control>) {
        // SAFETY: the caller's promise.
        let links = unsafe { &control.as_ref().links };
        let (before, after) = (links.before.take(), links.after.take());
        match before {
            // SAFETY: the invariant of the list.
            Some(before) => unsafe { before.as_ref() }.links.after.set(after),
            None => self.first.set(after),
        }
        if let Some(after) = after {
            // SAFETY: as above.
            unsafe { after.as_ref() }.links.before.set(before);
        }
    }

    /// Calls `look` with each.
    pub(crate) fn for_each(&self, mut look: impl FnMut(NonNull<Control>)) {
        let mut next = self.first.get();
        while let Some(control) = next {
            // SAFETY: the invariant of the list.
            next = unsafe { control.as_ref() }.links.after.get();
            look(control);
        }
    }
}

/// The fibers that have begun on a worker, may move, and have not ended.
#[derive(Debug, Default)]
pub(crate) struct Roamers(Mutex<Roster>);

// SAFETY: the links of those in the list are touched under its lock alone.
unsafe impl Send for Roster {}

impl Roamers {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Roster> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
