//! Counters of a runtime's fibers and stacks.

use sinew_coroutine::StackStats;

use super::Handle;
use crate::rt::{All, Counters};

/// Counters of a [`Runtime`](super::Runtime)'s fibers. Each number is read at a moment of its own,
/// so those of a busy runtime are only approximately consistent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuntimeStats {
    /// Fibers that have not ended.
    pub live: u64,
    /// Fibers that were spawned.
    pub spawned: u64,
    /// Fibers that have begun.
    pub started: u64,
    /// Fibers that have ended, including those that were discarded and never began.
    pub finished: u64,
    /// Fibers that wait. The other live fibers run, are ready, or have not begun.
    pub parked: u64,
    /// How often a fiber could not begin because there was no stack, and waited for one.
    pub starved: u64,
    /// System calls that woke sleeping workers.
    pub worker_wakes: u64,
    /// Threads for calls that [block](mod@crate::blocking).
    pub blocking_threads: u64,
    /// Calls that block and wait for a thread.
    pub blocking_queued: u64,
    /// Failed system calls by which workers sleep or poll for events. A worker continues without
    /// them: it sleeps for some milliseconds at a time.
    pub driver_errors: u64,
    /// The counters of each worker; those of spare workers come last.
    pub workers: Vec<WorkerFibers>,
}

/// Counters of one worker's fibers. What threads count that are not workers is only in the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerFibers {
    /// Fibers that were spawned by fibers of this worker.
    pub spawned: u64,
    /// Fibers that began on this worker.
    pub started: u64,
    /// Fibers that ended on this worker.
    pub finished: u64,
    /// Waits that let other fibers run on this worker.
    pub waits: u64,
}

impl Handle {
    /// Returns how many fibers there are and were. This takes a few loads for each worker, and
    /// stops nothing.
    ///
    /// ```
    /// let runtime = sinew::Runtime::builder().workers(1).start()?;
    /// runtime.run(|| sinew::fiber::spawn(|| ()).join().unwrap());
    /// let stats = runtime.stats();
    /// assert_eq!((stats.spawned, stats.finished, stats.live), (2, 2, 0));
    /// # Ok::<(), sinew::StartError>(())
    /// ```
    #[must_use]
    pub fn stats(&self) -> RuntimeStats {
        let pool = self.engine.pool_stats();
        let (worker_wakes, driver_errors) =
            (pool.wakes(), pool.workers.iter().map(|worker| worker.driver_errors).sum());
        let (threads, queued) = self.engine.blocking_pool.counts();
        let (blocking_threads, blocking_queued) = (threads as u64, queued as u64);
        let fibers = self.engine.host().look(RuntimeStats::new);
        RuntimeStats { worker_wakes, driver_errors, blocking_threads, blocking_queued, ..fibers }
    }

    /// Returns how many stacks there are, and in which state. This takes longer than
    /// [`stats`](Self::stats), and a fiber that allocates a new stack meanwhile may have to wait
    /// for it.
    ///
    /// ```
    /// let runtime = sinew::Runtime::builder().workers(1).start()?;
    /// runtime.run(|| sinew::fiber::spawn(|| ()).join().unwrap());
    /// let stacks = runtime.stack_stats();
    /// assert_eq!((stacks.live, stacks.pooled), (0, 2));
    /// # Ok::<(), sinew::StartError>(())
    /// ```
    #[must_use]
    pub fn stack_stats(&self) -> StackStats {
        self.engine.host().stacks.stats()
    }
}

impl RuntimeStats {
    fn new(all: &All<'_>) -> Self {
        // Ends are read before beginnings, so that the differences are never negative.
        let finished = all.sum(|counters| &counters.finished);
        let wakes = all.sum(|counters| &counters.wakes);
        let started = all.sum(|counters| &counters.started);
        let spawned = all.sum(|counters| &counters.spawned);
        let live = spawned.saturating_sub(finished);
        let waits = all.sum(|counters| &counters.waits);
        let parked = waits.saturating_sub(wakes).min(live);
        let starved = all.sum(|counters| &counters.starved);
        let workers = all.workers.iter().map(|counters| WorkerFibers::new(counters)).collect();
        Self { live, spawned, started, finished, parked, starved, workers, ..Self::default() }
    }
}

impl WorkerFibers {
    fn new(counters: &Counters) -> Self {
        Self {
            spawned: counters.spawned.get(),
            started: counters.started.get(),
            finished: counters.finished.get(),
            waits: counters.waits.get(),
        }
    }
}
