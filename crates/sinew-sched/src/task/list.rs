//! A list of tasks, first in, first out, through their links. Knows no thread.
//!
//! # Safety
//!
//! Trusted with owning the tasks that it is linked through.
#![expect(unsafe_code, reason = "tasks are linked by pointers")]

use core::fmt;
use core::ptr::{self, NonNull};

use super::header::{Header, TaskRef};

/// Tasks in a row.
pub(crate) struct List {
    /// # Invariant
    ///
    /// `first` and all that it links to, up to a null link, are `len` tasks that this list owns; `last` is the one with
    /// the null link. Both are null when there is none.
    first: *mut Header,
    last: *mut Header,
    len: usize,
}

// SAFETY: it owns tasks, and they may be sent.
unsafe impl Send for List {}

impl List {
    pub(crate) const fn new() -> Self {
        Self { first: ptr::null_mut(), last: ptr::null_mut(), len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_null()
    }

    #[inline]
    pub(crate) fn push_back(&mut self, mut task: TaskRef) {
        task.set_next(ptr::null_mut());
        let header = task.into_raw().as_ptr();
        match own(self.last) {
            None => self.first = header,
            Some(mut last) => {
                last.set_next(header);
                let _ = last.into_raw();
            }
        }
        self.last = header;
        self.len += 1;
    }

    #[inline]
    pub(crate) fn push_front(&mut self, mut task: TaskRef) {
        task.set_next(self.first);
        let header = task.into_raw().as_ptr();
        if self.last.is_null() {
            self.last = header;
        }
        self.first = header;
        self.len += 1;
    }

    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<TaskRef> {
        let task = own(self.first)?;
        self.first = task.next();
        if self.first.is_null() {
            self.last = ptr::null_mut();
        }
        self.len -= 1;
        Some(task)
    }

    /// Puts all tasks of another list at the end.
    pub(crate) fn append(&mut self, mut other: Self) {
        if other.is_empty() {
            return;
        }
        match own(self.last) {
            None => self.first = other.first,
            Some(mut last) => {
                last.set_next(other.first);
                let _ = last.into_raw();
            }
        }
        self.last = other.last;
        self.len += other.len;
        other.first = ptr::null_mut();
    }

    /// Takes the first `count` tasks out, or all.
    pub(crate) fn take(&mut self, count: usize) -> Self {
        let mut taken = Self::new();
        for task in std::iter::from_fn(|| self.pop_front()).take(count) {
            taken.push_back(task);
        }
        taken
    }
}

/// The task of a header that the list owns, as a value: to be given up again by `into_raw`, or handed out.
#[inline]
fn own(header: *mut Header) -> Option<TaskRef> {
    // SAFETY: the invariant of `first`: it is alive, and the list's own right to it is used.
    NonNull::new(header).map(|header| unsafe { TaskRef::from_raw(header) })
}

impl Drop for List {
    fn drop(&mut self) {
        while let Some(task) = self.pop_front() {
            drop(task);
        }
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List").field("len", &self.len).finish()
    }
}

impl FromIterator<TaskRef> for List {
    fn from_iter<I: IntoIterator<Item = TaskRef>>(tasks: I) -> Self {
        let mut list = Self::new();
        tasks.into_iter().for_each(|task| list.push_back(task));
        list
    }
}
