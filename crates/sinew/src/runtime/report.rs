//! What came of shutting a runtime down.

use std::num::NonZero;
use std::panic::Location;

use sinew_sched::ShutdownReport as PoolReport;
pub use sinew_sched::StuckWorker;

use crate::rt::Leak;

/// What came of a shutdown.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// All fibers ended, and all threads.
    pub drained: bool,
    /// Somebody waited for that; not, if the runtime was shut down by one of its own fibers.
    pub waited: bool,
    /// Fibers that had not begun, and were discarded.
    pub discarded: usize,
    /// Fibers that had begun and wait: their stacks stay as they were, for ever, and so do their workers' threads.
    pub leaked: Vec<LeakedFiber>,
    /// Fibers that run all the same. They go on, until they wait or end.
    pub running: Vec<LeakedFiber>,
    /// Workers whose threads were left behind: with fibers that wait, or with one that runs.
    pub stuck: Vec<StuckWorker>,
}

/// A fiber that had begun and had not ended when its runtime was shut down.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LeakedFiber {
    /// Its number.
    pub id: NonZero<u64>,
    /// The name it was given.
    pub name: Option<String>,
    /// The worker it was on.
    pub worker: usize,
    /// Where it was made.
    pub spawned_at: &'static Location<'static>,
}

impl ShutdownReport {
    pub(super) fn new(pool: PoolReport, leaks: Vec<Leak>, running: Vec<Leak>) -> Self {
        let leaked = |Leak { id, name, worker, location }| LeakedFiber {
            id,
            name,
            worker: worker as usize,
            spawned_at: location,
        };
        Self {
            drained: pool.drained,
            waited: pool.waited,
            discarded: pool.discarded,
            leaked: leaks.into_iter().map(leaked).collect(),
            running: running.into_iter().map(leaked).collect(),
            stuck: pool.stuck,
        }
    }
}
