//! Counters of fibers: each written by one thread, read by anyone.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that one thread counts up.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    /// For the one thread that counts.
    #[inline]
    pub(crate) fn add(&self, more: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
    }

    /// For any thread.
    pub(crate) fn add_shared(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a worker counts, or all threads that are none.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Fibers made here.
    pub(crate) spawned: Count,
    /// Fibers that first ran here.
    pub(crate) started: Count,
    /// Fibers that ended here; among those of threads that are no workers, all that were discarded.
    pub(crate) finished: Count,
    /// Fibers that were to begin here when there was no stack.
    pub(crate) starved: Count,
    /// Waits of fibers that began here.
    pub(crate) waits: Count,
    /// Waits of fibers that were ended from here, wherever they had begun.
    pub(crate) wakes: Count,
}

/// All that is counted in an engine.
#[derive(Debug)]
pub(crate) struct All<'a> {
    /// By worker, spare ones after the others.
    pub(crate) workers: &'a [Arc<Counters>],
    /// By all threads that are no workers.
    pub(crate) outside: &'a Counters,
}

impl All<'_> {
    /// The sum of one count.
    pub(crate) fn sum(&self, of: impl Fn(&Counters) -> &Count) -> u64 {
        let workers: u64 = self.workers.iter().map(|counters| of(counters).get()).sum();
        workers + of(self.outside).get()
    }

    /// How many fibers have come to their end: those that were discarded are not counted.
    pub(crate) fn finished_by_workers(&self) -> u64 {
        self.workers.iter().map(|counters| counters.finished.get()).sum()
    }
}
