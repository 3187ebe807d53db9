//! What the fibers of a runtime have come to so far.

use sinew_coroutine::StackStats;

use super::Handle;
use crate::rt::{All, Counters};

/// Fibers of a [`Runtime`](super::Runtime), counted. Each number is read at its own moment, so
/// those of a busy runtime fit together only about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuntimeStats {
    /// Fibers that have not ended.
    pub live: u64,
    /// Fibers that were made.
    pub spawned: u64,
    /// Fibers that have begun.
    pub started: u64,
    /// Fibers that have ended, those included that were discarded and never began.
    pub finished: u64,
    /// Fibers that wait. The others of the live ones run, are ready, or have not begun.
    pub parked: u64,
    /// How often a fiber was to begin and there was no stack for it, so that it waited for one.
    pub starved: u64,
    /// System calls made to wake workers that slept.
    pub worker_wakes: u64,
    /// Threads for calls that [block](mod@crate::blocking).
    pub blocking_threads: u64,
    /// Calls that block which wait for a thread.
    pub blocking_queued: u64,
    /// System calls by which workers sleep or look for events, and that failed. A worker goes on
    /// without them: it sleeps for some milliseconds at a time.
    pub driver_errors: u64,
    /// By worker; spare ones come after the others.
    pub workers: Vec<WorkerFibers>,
}

/// What the fibers of one worker have come to. What threads count that are no workers is in the sums only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerFibers {
    /// Fibers that were made by fibers of this worker.
    pub spawned: u64,
    /// Fibers that began here.
    pub started: u64,
    /// Fibers that ended here.
    pub finished: u64,
    /// Waits that gave this worker to others.
    pub waits: u64,
}

impl Handle {
    /// How many fibers there are and were. A few loads for each worker; nothing stops.
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

    /// The stacks of the fibers: how many there are, and in which state. It takes longer than [`stats`](Self::stats), and
    /// whoever takes a new stack may have to wait for it.
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
        // What ends is read before what begins: the differences are never less than nothing.
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
