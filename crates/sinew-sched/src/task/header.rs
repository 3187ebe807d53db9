//! A task as the pool sees it: two functions and a link.
//!
//! # Safety
//!
//! Trusted with calling the functions of a header once, and with the link, which belongs to the
//! owner of the task.
#![expect(unsafe_code, reason = "a task is an untyped pointer with functions")]

use core::fmt;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use super::context::Context;
use crate::sync::UnsafeCell;
use crate::unwind;

/// The functions of a task. Exactly one of them is called, once for each [`TaskRef`].
#[derive(Debug)]
pub struct Vtable {
    /// Runs the task. The task is gone afterwards, unless its function has made a new [`TaskRef`]
    /// of the header.
    pub run: unsafe fn(NonNull<Header>, &Context<'_>),
    /// Discards the task. Called on any thread.
    pub discard: unsafe fn(NonNull<Header>),
    /// Whether the task cannot move any more once it has begun. A worker that has begun many such
    /// tasks leaves more of them to other workers. The tasks count themselves, with
    /// [`Core::own`](crate::Core::own) and [`Core::disown`](crate::Core::disown).
    pub settles: bool,
}

/// The first field of every task. Put it first into a `#[repr(C)]` type and cast the pointer back
/// in the functions.
///
/// A task with a header of its own can be submitted again without an allocation. Here it is a box:
///
/// ```
/// use sinew_sched::{Context, Core, FutexDriver, Header, TaskRef, Vtable};
/// use std::ptr::NonNull;
/// use std::sync::mpsc::{Sender, channel};
///
/// #[repr(C)]
/// struct Greeting {
///     header: Header,
///     sender: Sender<&'static str>,
/// }
///
/// unsafe fn run(header: NonNull<Header>, _: &Context<'_>) {
///     // SAFETY: called once, with the header of a boxed `Greeting`.
///     let greeting = unsafe { Box::from_raw(header.cast::<Greeting>().as_ptr()) };
///     greeting.sender.send("hello").unwrap();
/// }
///
/// unsafe fn discard(header: NonNull<Header>) {
///     // SAFETY: as for `run`.
///     drop(unsafe { Box::from_raw(header.cast::<Greeting>().as_ptr()) });
/// }
///
/// static VTABLE: Vtable = Vtable { run, discard, settles: false };
/// let (sender, receiver) = channel();
/// let greeting = Box::new(Greeting { header: Header::new(&VTABLE), sender });
/// let header = NonNull::from(Box::leak(greeting)).cast();
/// // SAFETY: the box stays until `run` or `discard` takes it, and may go to any thread.
/// let task = unsafe { TaskRef::from_raw(header) };
///
/// let core = Core::new(Box::new(FutexDriver::default()));
/// core.push(task);
/// core.run_ready(1);
/// assert_eq!(receiver.recv(), Ok("hello"));
/// ```
#[derive(Debug)]
pub struct Header {
    vtable: &'static Vtable,
    /// The next task of the list that contains this one.
    ///
    /// # Invariant
    ///
    /// Touched only by the owner of the header's [`TaskRef`]; a list owns the tasks in it.
    next: UnsafeCell<*mut Header>,
}

// SAFETY: the vtable is shared and constant; only the task's owner touches the link.
unsafe impl Send for Header {}
// SAFETY: as above.
unsafe impl Sync for Header {}

impl Header {
    /// Creates a header with these functions.
    #[must_use]
    pub fn new(vtable: &'static Vtable) -> Self {
        Self { vtable, next: UnsafeCell::new(ptr::null_mut()) }
    }
}

/// The right to run a task once. Dropping it discards the task.
///
/// It is one word, and a task in a queue takes no memory, because the header has room for a link.
/// Only a worker's deque takes a word for each task.
pub struct TaskRef {
    /// # Invariant
    ///
    /// The header is alive, and this value is the only one that may run the task, discard it or
    /// touch its link.
    header: NonNull<Header>,
}

// SAFETY: `from_raw` demands that the task may go to other threads.
unsafe impl Send for TaskRef {}

impl TaskRef {
    /// Makes a task of a header.
    ///
    /// # Safety
    ///
    /// The header stays where it is until one of its functions is called. Both may be called with
    /// it: `discard` on any thread, `run` on any thread of the pool that the task is submitted to.
    /// A task that is sent to a given worker runs on that worker's thread if the pool was built
    /// with that worker, or if it is a spare worker that [owns](crate::Core::own) a begun task
    /// until then. A spare worker without one may leave first, and then any other worker runs the
    /// task. No other `TaskRef` of the header exists until one of its functions is called.
    #[must_use]
    pub unsafe fn from_raw(header: NonNull<Header>) -> Self {
        Self { header }
    }

    /// Returns the header, with the right to run the task. The task is not discarded.
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

    /// Discards the task, as dropping it does. A panic of the task ends here: the panic hook has
    /// reported it.
    pub(crate) fn discard(self) {
        unwind::catch(|| drop(self));
    }

    /// Returns whether the task cannot move any more once it has begun.
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
        // SAFETY: the invariant of `next`: this value is the header's only `TaskRef`, so it owns
        // the link.
        header.next.with_mut(|link| unsafe { *link = next });
    }

    /// Returns the link.
    #[inline]
    pub(crate) fn next(&self) -> *mut Header {
        // SAFETY: the invariant of `header`: it is alive.
        let header = unsafe { self.header.as_ref() };
        // SAFETY: the invariant of `next`: this value is the header's only `TaskRef`, so it owns
        // the link.
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
