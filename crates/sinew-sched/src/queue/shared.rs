//! A group's queue for tasks that any worker may run, first in, first out. Knows no worker.
//!
//! It is a bounded ring without locks, and behind it a list under a lock for tasks that do not fit
//! or arrive in large batches: putting a whole list there takes as long as putting one task.
//! Neither part waits for the other: takers alternate between them, so order is kept within each
//! part only.

use crossbeam_utils::CachePadded;

#[cfg(loom)]
use super::twin::ArrayQueue as Ring;
use crate::sync::{AtomicUsize, Lock, Ordering};
use crate::task::{List, TaskRef};

#[cfg(not(loom))]
type Ring = crossbeam_queue::ArrayQueue<TaskRef>;

/// A batch of this size or more goes to the list.
const LARGE_BATCH: usize = 32;

/// The queue of a group.
pub(crate) struct SharedQueue {
    ring: Ring,
    overflow: Lock<List>,
    /// The length of `overflow`, to be read without the lock.
    overflowing: CachePadded<AtomicUsize>,
    /// How many tasks went to the list because the ring was full.
    spilled: AtomicUsize,
    turn: AtomicUsize,
}

impl SharedQueue {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            ring: Ring::new(capacity),
            overflow: Lock::new(List::new()),
            overflowing: CachePadded::new(AtomicUsize::new(0)),
            spilled: AtomicUsize::new(0),
            turn: AtomicUsize::new(0),
        }
    }

    pub(crate) fn push(&self, task: TaskRef) {
        if let Err(task) = self.ring.push(task) {
            self.spilled.fetch_add(1, Ordering::Relaxed);
            self.push_to_list(List::from(task));
        }
    }

    /// Adds a whole list.
    pub(crate) fn push_all(&self, tasks: List) {
        if tasks.len() >= LARGE_BATCH {
            return self.push_to_list(tasks);
        }
        while let Some(task) = tasks.pop_front() {
            self.push(task);
        }
    }

    fn push_to_list(&self, tasks: List) {
        let overflow = self.overflow.lock();
        overflow.append(tasks);
        self.overflowing.store(overflow.len(), Ordering::Relaxed);
    }

    /// Takes a task.
    pub(crate) fn take(&self) -> Option<TaskRef> {
        self.take_some(0, drop)
    }

    /// Takes a task, and up to `more` others, which it passes to `others`.
    pub(crate) fn take_some(&self, more: usize, others: impl FnMut(TaskRef)) -> Option<TaskRef> {
        // To find the queue empty here takes two loads; an attempt to take a task takes a fence.
        if self.is_empty() {
            return None;
        }
        let most = more + 1;
        let list_first = self.has_overflow() && self.turn.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        let mut tasks = if list_first { self.take_from_list(most) } else { self.take_from_ring(most) };
        if tasks.is_empty() {
            tasks = if list_first { self.take_from_ring(most) } else { self.take_from_list(most) };
        }
        let first = tasks.pop_front();
        std::iter::from_fn(|| tasks.pop_front()).for_each(others);
        first
    }

    /// Takes a task in exchange for one that the caller has just put here. Returns none unless
    /// every reader sees at least one of the two throughout. Both tasks have to be in the ring for
    /// that: the ring is empty only if it is empty at one moment, while a reader that looks at two
    /// parts, one after the other, may find each empty in turn.
    pub(crate) fn take_in_exchange(&self) -> Option<TaskRef> {
        if self.has_overflow() { None } else { self.ring.pop() }
    }

    fn take_from_ring(&self, most: usize) -> List {
        std::iter::from_fn(|| self.ring.pop()).take(most).collect()
    }

    fn take_from_list(&self, most: usize) -> List {
        if !self.has_overflow() {
            return List::new();
        }
        let overflow = self.overflow.lock();
        let taken = overflow.take(most);
        self.overflowing.store(overflow.len(), Ordering::Relaxed);
        taken
    }

    fn has_overflow(&self) -> bool {
        self.overflowing.load(Ordering::Relaxed) != 0
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ring.is_empty() && !self.has_overflow()
    }

    pub(crate) fn len(&self) -> usize {
        self.ring.len() + self.overflowing.load(Ordering::Relaxed)
    }

    pub(crate) fn spilled(&self) -> usize {
        self.spilled.load(Ordering::Relaxed)
    }
}
