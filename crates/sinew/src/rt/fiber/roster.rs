//! The fibers that have begun on a worker and not ended, as lists that link their blocks: one of
//! the fibers that stay, which the worker's thread changes, and one of the fibers that may migrate,
//! behind a mutex. Other threads read both (see [`census`](super::census)).
//!
//! # Safety
//!
//! Trusted with the links of the blocks: a fiber is in a list from its beginning to its end, or to
//! that of a step, and is alive meanwhile.
#![expect(unsafe_code, reason = "blocks are linked by pointers")]

use std::cell::Cell;
use std::ptr::NonNull;

use super::block::FiberBlock;
use crate::rt::base::OwnerLock;
use crate::rt::base::sync::Lock;
use crate::rt::wait::Control;

type RosterLink = Cell<Option<NonNull<Control>>>;

/// The links of a block in its list.
#[derive(Debug, Default)]
pub(crate) struct RosterLinks {
    /// # Invariant
    ///
    /// Changed under the lock of the list that the fiber is in.
    before: RosterLink,
    after: RosterLink,
}

/// A list of fibers that have begun and not ended.
///
/// # Invariant
///
/// The fibers in it are alive until they leave it.
#[derive(Debug, Default)]
pub(crate) struct BegunList {
    first: RosterLink,
}

impl BegunList {
    /// Adds a fiber that begins.
    ///
    /// # Safety
    ///
    /// The fiber is alive until [`leave`](Self::leave) is called for it.
    #[inline]
    pub(crate) unsafe fn enter(&self, control: NonNull<Control>) {
        let second = self.first.replace(Some(control));
        // SAFETY: the caller's promise.
        unsafe { FiberBlock::of(control) }.links.after.set(second);
        if let Some(second) = second {
            // SAFETY: the invariant of the list.
            unsafe { FiberBlock::of(second) }.links.before.set(Some(control));
        }
    }

    /// Removes a fiber that ends.
    ///
    /// # Safety
    ///
    /// The fiber is in this list.
    #[inline]
    pub(crate) unsafe fn leave(&self, control: NonNull<Control>) {
        // SAFETY: the caller's promise.
        let links = unsafe { &FiberBlock::of(control).links };
        let (before, after) = (links.before.take(), links.after.take());
        match before {
            // SAFETY: the invariant of the list.
            Some(before) => unsafe { FiberBlock::of(before) }.links.after.set(after),
            None => self.first.set(after),
        }
        if let Some(after) = after {
            // SAFETY: as above.
            unsafe { FiberBlock::of(after) }.links.before.set(before);
        }
    }

    /// Calls `look` with each fiber.
    pub(crate) fn for_each(&self, mut look: impl FnMut(NonNull<Control>)) {
        let mut next = self.first.get();
        while let Some(control) = next {
            // SAFETY: the invariant of the list.
            next = unsafe { FiberBlock::of(control) }.links.after.get();
            look(control);
        }
    }
}

/// The fibers that have begun on a worker, stay there, and have not ended. The worker's thread is
/// the owner of the lock.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    pub(crate) lock: OwnerLock,
    /// # Invariant
    ///
    /// Changed under the lock, by the owner alone.
    list: BegunList,
}

impl Roster {
    /// Adds a fiber that begins. Called by the owner.
    ///
    /// # Safety
    ///
    /// The fiber is alive until [`leave`](Self::leave) is called for it.
    #[inline]
    pub(crate) unsafe fn enter(&self, control: NonNull<Control>) {
        // SAFETY: the caller's promise.
        self.lock.with(|| unsafe { self.list.enter(control) });
    }

    /// Removes a fiber that ends, and calls `count` before another thread can see that. Called by
    /// the owner.
    ///
    /// # Safety
    ///
    /// The fiber is in this list. `count` does not panic.
    #[inline]
    pub(crate) unsafe fn leave(&self, control: NonNull<Control>, count: impl FnOnce()) {
        self.lock.with(|| {
            // SAFETY: the caller's promise.
            unsafe { self.list.leave(control) };
            count();
        });
    }

    /// Calls `look` with each fiber. Called by the owner, which changes nothing meanwhile, and by
    /// guests that hold the lock.
    pub(crate) fn for_each(&self, look: impl FnMut(NonNull<Control>)) {
        self.list.for_each(look);
    }
}

/// The fibers that have begun on a worker, may migrate, and have not ended.
pub(crate) type Roamers = Lock<BegunList>;

// SAFETY: the links of the fibers in the list are touched only under its lock.
unsafe impl Send for BegunList {}
