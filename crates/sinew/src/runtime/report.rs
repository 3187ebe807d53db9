//! What came of shutting a runtime down.

use std::num::NonZero;
use std::panic::Location;

use sinew_sched::ShutdownReport as PoolReport;
pub use sinew_sched::StuckWorker;

use crate::rt::{Fates, Leak};

/// What came of a shutdown.
///
/// If the shutdown waited, each fiber of the runtime has ended, is counted in `discarded`, or is in one of the two lists: as it was at
/// the moment at which the shutdown ceased to wait.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// All fibers ended, and all threads.
    pub drained: bool,
    /// Somebody waited for that; not, if the runtime was shut down by one of its own fibers.
    pub waited: bool,
    /// How many fibers had not begun, or were between two [steps](crate::fiber::spawn_steps): they were discarded. One that must begin on
    /// a worker whose thread is blocked is discarded when that thread goes on.
    pub discarded: usize,
    /// Fibers that had begun and do not run: they wait, or wait for their turn behind one that blocks their worker. Their stacks stay as
    /// they were, for ever, and so do their workers' threads.
    pub leaked: Vec<LeakedFiber>,
    /// Fibers that run all the same, or block their worker. They go on, until they wait or end.
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
    pub(super) fn new(pool: PoolReport, fates: Fates) -> Self {
        let leaked = |Leak { id, name, worker, location }| LeakedFiber {
            id,
            name,
            worker: worker as usize,
            spawned_at: location,
        };
        Self {
            drained: pool.drained,
            waited: pool.waited,
            discarded: fates.unbegun,
            leaked: fates.begun.waiting.into_iter().map(leaked).collect(),
            running: fates.begun.running.into_iter().map(leaked).collect(),
            stuck: pool.stuck,
        }
    }
}
