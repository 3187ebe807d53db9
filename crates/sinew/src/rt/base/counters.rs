//! Counters of fibers: each written by one thread, read by any thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter that one thread increments.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    /// Adds to the counter. Called by the one thread that owns it.
    #[inline]
    pub(crate) fn add(&self, more: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
    }

    /// Adds to a counter that several threads increment.
    pub(crate) fn add_shared(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters of one worker, or of all threads that are not workers.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Fibers spawned here.
    pub(crate) spawned: Count,
    /// Fibers that first ran here.
    pub(crate) started: Count,
    /// Fibers that ended here. For threads that are not workers: all fibers that were discarded.
    pub(crate) finished: Count,
    /// Fibers that were to begin here when there was no stack.
    pub(crate) starved: Count,
    /// Waits of fibers that began here.
    pub(crate) waits: Count,
    /// Waits of fibers that were ended from here, on whichever worker they began.
    pub(crate) wakes: Count,
}

/// All counters of an engine.
#[derive(Debug)]
pub(crate) struct All<'a> {
    /// The counters of workers, spare ones last.
    pub(crate) workers: &'a [Arc<Counters>],
    /// The counters of all threads that are not workers.
    pub(crate) outside: &'a Counters,
}

impl All<'_> {
    /// Returns the sum of one counter.
    pub(crate) fn sum(&self, of: impl Fn(&Counters) -> &Count) -> u64 {
        let workers: u64 = self.workers.iter().map(|counters| of(counters).get()).sum();
        workers + of(self.outside).get()
    }

    /// Returns how many fibers have ended, not counting discarded ones.
    pub(crate) fn finished_by_workers(&self) -> u64 {
        self.workers.iter().map(|counters| counters.finished.get()).sum()
    }
}
