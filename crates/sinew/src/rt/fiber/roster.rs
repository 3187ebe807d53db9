//! The fibers that have begun on a worker and not ended, as lists through their blocks: one of those
//! that stay, which the worker's thread changes, and one of those that move, behind a mutex. Other
//! threads read both (see [`census`](super::census)).
//!
//! # Safety
//!
//! Trusted with the links of the blocks in them: a fiber is in a list from its beginning to its end,
//! or that of a step, and there for as long.
#![expect(unsafe_code, reason = "blocks are linked by pointers")]

use std::cell::Cell;
use std::ptr::NonNull;

use super::block::FiberBlock;
use crate::rt::base::OwnerLock;
use crate::rt::base::sync::Lock;
use crate::rt::wait::Control;

type RosterLink = Cell<Option<NonNull<Control>>>;

/// The place of a block in the list.
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
/// The fibers in it are there until they leave it.
#[derive(Debug, Default)]
pub(crate) struct BegunList {
    first: RosterLink,
}

impl BegunList {
    /// Adds a fiber that begins.
    ///
    /// # Safety
    ///
    /// It is there until [`leave`](Self::leave) is called for it.
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
    /// It is in this list.
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

/// The fibers that have begun on a worker, stay there, and have not ended. The worker's thread is the
/// owner of its lock.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    pub(crate) lock: OwnerLock,
    /// # Invariant
    ///
    /// Changed under the lock, by the owner alone.
    list: BegunList,
}

impl Roster {
    /// Adds a fiber that begins. For the owner.
    ///
    /// # Safety
    ///
    /// The fiber is there until [`leave`](Self::leave) is called for it.
    #[inline]
    pub(crate) unsafe fn enter(&self, control: NonNull<Control>) {
        // SAFETY: the caller's promise.
        self.lock.with(|| unsafe { self.list.enter(control) });
    }

    /// Removes a fiber that ends, and calls `count` before another thread can see that. For the owner.
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

    /// Calls `look` with each fiber. For the owner, who changes nothing meanwhile, and for guests that
    /// hold the lock.
    pub(crate) fn for_each(&self, look: impl FnMut(NonNull<Control>)) {
        self.list.for_each(look);
    }
}

/// The fibers that have begun on a worker, may move, and have not ended.
pub(crate) type Roamers = Lock<BegunList>;

// SAFETY: the links of those in the list are touched under its lock alone.
unsafe impl Send for BegunList {}
