//! A list of tasks, first in, first out, through their links. Knows no thread.
//!
//! # Safety
//!
//! Trusted with owning the tasks that it is linked through.
#![expect(unsafe_code, reason = "tasks are linked by pointers")]

use core::cell::Cell;
use core::fmt;
use core::ptr::{self, NonNull};

use super::header::{Header, TaskRef};
use crate::prefetch::prefetch;

/// A queue of tasks. Its operations call no code of the tasks, so a shared reference is enough for
/// all of them.
pub(crate) struct List {
    /// # Invariant
    ///
    /// `first` and all that it links to, up to a null link, are `len` tasks that this list owns;
    /// `last` is the one with the null link. Both are null when there is none.
    first: Cell<*mut Header>,
    last: Cell<*mut Header>,
    len: Cell<usize>,
}

// SAFETY: a list owns its tasks, and tasks are `Send`.
unsafe impl Send for List {}

impl List {
    pub(crate) const fn new() -> Self {
        Self { first: Cell::new(ptr::null_mut()), last: Cell::new(ptr::null_mut()), len: Cell::new(0) }
    }

    pub(crate) fn len(&self) -> usize {
        self.len.get()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.get().is_null()
    }

    #[inline]
    pub(crate) fn push_back(&self, mut task: TaskRef) {
        task.set_next(ptr::null_mut());
        let header = task.into_raw().as_ptr();
        self.link(header);
        self.last.set(header);
        self.len.set(self.len.get() + 1);
    }

    /// Links the last task to this header; if the list is empty, makes the header its first.
    #[inline]
    fn link(&self, header: *mut Header) {
        match own(self.last.get()) {
            None => self.first.set(header),
            Some(mut last) => {
                last.set_next(header);
                let _ = last.into_raw();
            }
        }
    }

    #[inline]
    pub(crate) fn push_front(&self, mut task: TaskRef) {
        task.set_next(self.first.get());
        let header = task.into_raw().as_ptr();
        if self.is_empty() {
            self.last.set(header);
        }
        self.first.set(header);
        self.len.set(self.len.get() + 1);
    }

    #[inline]
    pub(crate) fn pop_front(&self) -> Option<TaskRef> {
        let task = own(self.first.get())?;
        let next = task.next();
        self.first.set(next);
        if next.is_null() {
            self.last.set(ptr::null_mut());
        }
        self.len.set(self.len.get() - 1);
        Some(task)
    }

    /// Adds a task at the end, and takes the first: the same task, if the list was empty.
    #[inline]
    pub(crate) fn rotate(&self, mut task: TaskRef) -> TaskRef {
        let Some(first) = own(self.first.get()) else { return task };
        task.set_next(ptr::null_mut());
        let header = task.into_raw().as_ptr();
        self.link(header);
        self.last.set(header);
        // Not null: at least the added task follows the first.
        self.first.set(first.next());
        first
    }

    /// Returns the first task, which stays where it is. Prefetches the one after it.
    #[inline]
    pub(crate) fn peek(&self) -> Option<NonNull<Header>> {
        let first = own(self.first.get())?;
        let second = first.next();
        prefetch(second);
        Some(first.into_raw())
    }

    /// Moves all tasks of another list to the end.
    pub(crate) fn append(&self, other: Self) {
        if other.is_empty() {
            return;
        }
        self.link(other.first.replace(ptr::null_mut()));
        self.last.set(other.last.replace(ptr::null_mut()));
        self.len.set(self.len.get() + other.len.replace(0));
    }

    /// Takes the first `count` tasks, or all if there are fewer.
    pub(crate) fn take(&self, count: usize) -> Self {
        let taken = Self::new();
        for task in std::iter::from_fn(|| self.pop_front()).take(count) {
            taken.push_back(task);
        }
        taken
    }
}

/// Makes a value of a header that the list owns. The caller gives it up again with `into_raw`, or
/// hands it out.
#[inline]
fn own(header: *mut Header) -> Option<TaskRef> {
    // SAFETY: the invariant of `first`: the task is alive, and this uses the list's own right to
    // it.
    NonNull::new(header).map(|header| unsafe { TaskRef::from_raw(header) })
}

impl Drop for List {
    fn drop(&mut self) {
        while let Some(task) = self.pop_front() {
            task.discard();
        }
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List").field("len", &self.len()).finish()
    }
}

impl From<TaskRef> for List {
    fn from(task: TaskRef) -> Self {
        Self::from_iter([task])
    }
}

impl FromIterator<TaskRef> for List {
    fn from_iter<I: IntoIterator<Item = TaskRef>>(tasks: I) -> Self {
        let list = Self::new();
        tasks.into_iter().for_each(|task| list.push_back(task));
        list
    }
}
