//! The count of awake workers, in one word. Knows no worker and no queue.
//!
//! A pool that drains is done when no worker is awake and nothing waits anywhere. Both have to be
//! true at one moment, and there are many queues: while one is read, a worker may rise, take a task
//! from another queue, put one where none was, and fall asleep again. So the word also counts how
//! often workers rose. If no worker is awake, then everything is empty, and then the word has the
//! same value as before, no worker has risen in between; and only awake workers move tasks.
//!
//! - A worker that falls asleep has finished its work before that, so that a thread that reads it
//!   as asleep sees its tasks: release and acquire, also across the falls of other workers, because
//!   each change of the word reads the one before.
//! - A worker that rises has a fence before it takes anything. If the check finds a queue empty
//!   because this worker took a task, the check's own fence after reading the queues comes later,
//!   and it sees the word changed.
//! - The last worker to fall finds no worker awake, and checks. It has a fence between falling and
//!   reading the stage of the pool. The thread that begins the drain has one between storing the
//!   stage and telling all workers. So either the worker sees the drain, or it is told after it
//!   fell, and rises and falls once more.

use crate::sync::{AtomicU64, Fence, Ordering, full_fence};

/// Awake workers are counted below this bit, rises from it on: 2^32 of them, which no check takes
/// long enough to see.
const RISEN: u64 = 1 << 32;

/// How many workers are awake, and how often any rose.
#[derive(Debug)]
pub(crate) struct Awake(AtomicU64);

impl Awake {
    /// Returns a count of no awake workers.
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Counts a worker in. It must not take anything before this.
    pub(crate) fn rise(&self) {
        self.0.fetch_add(RISEN + 1, Ordering::Relaxed);
        full_fence(Fence::Rise);
    }

    /// Counts a worker out that has nothing more to do. It checks the stage after this, and whether
    /// all is done.
    pub(crate) fn fall(&self) {
        self.0.fetch_sub(1, Ordering::Release);
        full_fence(Fence::Fall);
    }

    /// Returns whether `look` returned true and no worker was awake at any moment of that call.
    pub(crate) fn nobody_while(&self, look: impl FnOnce() -> bool) -> bool {
        let before = self.0.load(Ordering::Acquire);
        if !before.is_multiple_of(RISEN) || !look() {
            return false;
        }
        full_fence(Fence::Drained);
        self.0.load(Ordering::Relaxed) == before
    }
}
