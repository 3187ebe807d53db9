//! A task as the pool sees it: two functions and a link.
//!
//! # Safety
//!
//! Trusted with calling the functions of a header once, and with the link, which belongs to whoever has the task.
#![expect(unsafe_code, reason = "a task is an untyped pointer with functions")]

use core::fmt;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use super::context::Context;
use crate::sync::UnsafeCell;
use crate::unwind;

/// What can be done with a task. Exactly one of the two is called, once for each [`TaskRef`].
#[derive(Debug)]
pub struct Vtable {
    /// Runs it. The task is gone afterwards, unless its function has made a new [`TaskRef`] of the header.
    pub run: unsafe fn(NonNull<Header>, &Context<'_>),
    /// Gives it up, on any thread.
    pub discard: unsafe fn(NonNull<Header>),
    /// Whether it cannot move any more once it has begun. A worker that has begun many such tasks leaves more of them to
    /// others; the tasks count themselves, with [`Core::own`](crate::Core::own) and [`Core::disown`](crate::Core::disown).
    pub settles: bool,
}

/// The beginning of every task. Put it first into a `#[repr(C)]` type and cast the pointer back in the functions.
#[derive(Debug)]
pub struct Header {
    vtable: &'static Vtable,
    /// The next task of whatever list this one is in.
    ///
    /// # Invariant
    ///
    /// Touched only by the owner of the header's [`TaskRef`]; a list owns the tasks in it.
    next: UnsafeCell<*mut Header>,
}

// SAFETY: the vtable is shared and constant; the link is under its invariant.
unsafe impl Send for Header {}
// SAFETY: as above.
unsafe impl Sync for Header {}

impl Header {
    /// A header with these functions.
    #[must_use]
    pub fn new(vtable: &'static Vtable) -> Self {
        Self { vtable, next: UnsafeCell::new(ptr::null_mut()) }
    }
}

/// The right to run a task once. Dropping it discards the task.
///
/// It is one word, and being queued takes no memory, as the header has room for a link; only a worker's own tasks take that
/// word each, in its deque.
pub struct TaskRef {
    /// # Invariant
    ///
    /// Alive, and this value is the only one that may run it, discard it or touch its link.
    header: NonNull<Header>,
}

// SAFETY: `from_raw` demands that the task may go to other threads.
unsafe impl Send for TaskRef {}

impl TaskRef {
    /// A task of one's own making.
    ///
    /// # Safety
    ///
    /// The header stays where it is until one of its functions is called. Both may be called with it: `discard` on any
    /// thread, `run` on any thread of the pool that the task is submitted to. One that is sent to a given worker runs on that
    /// one's thread, if it is one of those that the pool was built with, or a spare one that [owns](crate::Core::own) a begun
    /// task until then; a spare one without may leave first, and then any other runs the task. No other `TaskRef` of the header
    /// exists until then.
    #[must_use]
    pub unsafe fn from_raw(header: NonNull<Header>) -> Self {
        Self { header }
    }

    /// The header, with the right to run it.
    #[must_use]
    pub fn into_raw(self) -> NonNull<Header> {
        ManuallyDrop::new(self).header
    }

    /// Runs the task.
    #[inline]
    pub(crate) fn run(self, context: &Context<'_>) {
        let header = self.into_raw();
        // SAFETY: the invariant: it is alive.
        let vtable = unsafe { header.as_ref() }.vtable;
        // SAFETY: the promise of `from_raw`; this value is used up.
        unsafe { (vtable.run)(header, context) };
    }

    /// Discards the task, as dropping it does; if that panics, the panic ends here. The panic hook has told about it.
    pub(crate) fn discard(self) {
        unwind::catch(|| drop(self));
    }

    /// Whether it cannot move any more once it has begun.
    #[inline]
    pub(crate) fn settles(&self) -> bool {
        // SAFETY: the invariant of `header`: it is alive.
        unsafe { self.header.as_ref() }.vtable.settles
    }

    /// Sets the link.
    #[inline]
    pub(crate) fn set_next(&mut self, next: *mut Header) {
        // SAFETY: the invariant of `header`: it is alive.
        let header = unsafe { self.header.as_ref() };
        // SAFETY: the invariant: the link is ours.
        header.next.with_mut(|link| unsafe { *link = next });
    }

    /// The link.
    #[inline]
    pub(crate) fn next(&self) -> *mut Header {
        // SAFETY: the invariant of `header`: it is alive.
        let header = unsafe { self.header.as_ref() };
        // SAFETY: the invariant: the link is ours.
        header.next.with(|link| unsafe { *link })
    }
}

impl Drop for TaskRef {
    fn drop(&mut self) {
        // SAFETY: the invariant: it is alive.
        let vtable = unsafe { self.header.as_ref() }.vtable;
        // SAFETY: the promise of `from_raw`; this value is gone after this.
        unsafe { (vtable.discard)(self.header) };
    }
}

impl fmt::Debug for TaskRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskRef").field(&self.header).finish()
    }
}
