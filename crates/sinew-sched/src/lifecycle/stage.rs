//! The stage of a pool, in one word. Knows no queue: the callers sweep them.
//!
//! A producer puts a task into a queue and then reads the stage; the thread that ends the pool
//! stores the stage and then sweeps the queues. Each has a fence in between, so at least one of
//! them sees the other: each task is run, or discarded by one of the two, and none stays behind.

use crate::sync::{AtomicUsize, Fence, Ordering, full_fence};

/// The stages of a pool, in order. A pool never goes back to an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub(crate) enum Stage {
    /// The pool takes new work.
    Open = 0,
    /// The pool refuses new work, and runs what it has.
    Draining = 1,
    /// The pool runs nothing more. A thread that finds a task in a queue discards it.
    Over = 2,
}

/// The current stage, shared by all threads.
#[derive(Debug)]
pub(crate) struct StageWord(AtomicUsize);

impl StageWord {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(Stage::Open as usize))
    }

    #[inline]
    pub(crate) fn get(&self) -> Stage {
        // Acquire: the reader sees what was done before the change.
        match self.0.load(Ordering::Acquire) {
            0 => Stage::Open,
            1 => Stage::Draining,
            _ => Stage::Over,
        }
    }

    /// Returns the stage, to a caller that has just put a task into a queue.
    pub(crate) fn get_after_push(&self) -> Stage {
        full_fence(Fence::Submit);
        self.get()
    }

    /// Stores that the pool refuses new work. The caller tells all workers after this.
    pub(crate) fn begin_drain(&self) {
        self.0.fetch_max(Stage::Draining as usize, Ordering::Release);
        // Between this and telling the workers, see `awake.rs`.
        full_fence(Fence::Drain);
    }

    /// Stores that the pool is over. The caller sweeps the queues after this.
    pub(crate) fn end(&self) {
        self.0.store(Stage::Over as usize, Ordering::Release);
        full_fence(Fence::End);
    }
}
