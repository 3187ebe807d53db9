//! The stage of a pool's life, in one word. Knows no queue: whoever is told that it is over sweeps them.
//!
//! A producer puts a task into a queue and then looks at the stage; whoever ends it all sets the stage and then sweeps the
//! queues. Each has a fence in between, so that one sees the other: a task is run, or swept by one of the two, and never
//! stays behind.

use crate::sync::{AtomicUsize, Fence, Ordering, full_fence};

/// The stages of a pool, in order. It never goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
pub(crate) enum Stage {
    /// Takes new work.
    Open = 0,
    /// Takes no new work; does what there is.
    Draining = 1,
    /// Does nothing more. Whoever finds a task in a queue discards it.
    Over = 2,
}

/// The stage, as all see it.
#[derive(Debug)]
pub(crate) struct StageWord(AtomicUsize);

impl StageWord {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(Stage::Open as usize))
    }

    #[inline]
    pub(crate) fn get(&self) -> Stage {
        // Acquire: what was done before the change is seen.
        match self.0.load(Ordering::Acquire) {
            0 => Stage::Open,
            1 => Stage::Draining,
            _ => Stage::Over,
        }
    }

    /// The stage, for somebody who has just put a task into a queue.
    pub(crate) fn get_after_push(&self) -> Stage {
        full_fence(Fence::Submit);
        self.get()
    }

    /// Takes no new work. The caller tells everybody after this.
    pub(crate) fn begin_drain(&self) {
        self.0.fetch_max(Stage::Draining as usize, Ordering::Release);
        // Between this and telling everybody, see `awake.rs`.
        full_fence(Fence::Drain);
    }

    /// It is over. The caller sweeps the queues after this.
    pub(crate) fn end(&self) {
        self.0.store(Stage::Over as usize, Ordering::Release);
        full_fence(Fence::End);
    }
}
