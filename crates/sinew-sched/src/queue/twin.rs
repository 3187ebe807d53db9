//! A stand-in for crossbeam's queue that promises what this crate relies on, and no more: the
//! checker cannot see into the real queue. A thread that takes a task sees what was done before the
//! task was put in. A thread that has a fence after the task was put in sees the task. Nothing else
//! is ordered, not even the tasks among themselves.
//!
//! # Safety
//!
//! Trusted with the tasks in its slots, which belong to the thread that takes them out.
#![expect(unsafe_code, reason = "a task travels through an atomic word")]

use std::ptr::{self, NonNull};

use crate::sync::{AtomicPtr, Ordering};
use crate::task::{Header, TaskRef};

/// A bounded bag.
pub(crate) struct ArrayQueue {
    /// # Invariant
    ///
    /// Null, or a task that the bag owns.
    slots: Vec<AtomicPtr<Header>>,
}

impl ArrayQueue {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { slots: (0..capacity).map(|_| AtomicPtr::new(ptr::null_mut())).collect() }
    }

    pub(crate) fn push(&self, task: TaskRef) -> Result<(), TaskRef> {
        let header = task.into_raw();
        let is_free = |slot: &&AtomicPtr<Header>| {
            let put =
                slot.compare_exchange(ptr::null_mut(), header.as_ptr(), Ordering::Release, Ordering::Relaxed);
            put.is_ok()
        };
        match self.slots.iter().find(is_free) {
            Some(_) => Ok(()),
            // SAFETY: the header comes from `into_raw` above, and was put nowhere.
            None => Err(unsafe { TaskRef::from_raw(header) }),
        }
    }

    pub(crate) fn pop(&self) -> Option<TaskRef> {
        let taken = self.full().find_map(|slot| NonNull::new(slot.swap(ptr::null_mut(), Ordering::Acquire)));
        // SAFETY: the invariant of `slots`; the swap has taken the task out.
        taken.map(|header| unsafe { TaskRef::from_raw(header) })
    }

    pub(crate) fn len(&self) -> usize {
        self.full().count()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn full(&self) -> impl Iterator<Item = &AtomicPtr<Header>> {
        self.slots.iter().filter(|slot| !slot.load(Ordering::Relaxed).is_null())
    }
}
