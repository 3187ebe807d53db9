//! The pool: threads, each with a worker. Knows groups, and no tasks except those it is given.

mod builder;
mod error;
mod handle;
#[cfg(feature = "system")]
mod makers;
#[cfg(not(feature = "system"))]
#[path = "no_makers.rs"]
mod makers;
#[cfg(all(test, not(loom)))]
mod nodes;
mod report;
mod starter;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use builder::Builder;
pub use error::{BuildError, Refusal, SubmitError};
pub use handle::{Handle, Placement};
pub use report::{ShutdownReport, StuckWorker};

use crate::pool_shared::PoolShared;
use crate::stats::PoolStats;

/// A pool of threads that run tasks.
///
/// ```
/// use sinew_sched::{Placement, Pool, TaskRef};
/// use std::sync::mpsc;
///
/// let pool = Pool::builder().workers(2).build()?;
/// let (sender, receiver) = mpsc::channel();
/// let task = TaskRef::new(move |context| sender.send(context.worker()).unwrap());
/// pool.handle().submit(task, Placement::Worker(1)).unwrap();
/// assert_eq!(receiver.recv(), Ok(Some(1)));
/// assert!(pool.shutdown(None).drained);
/// # Ok::<(), sinew_sched::BuildError>(())
/// ```
///
/// Dropping a pool begins its shutdown and does not wait for it: the pool runs the tasks that were
/// submitted, and then its threads end.
pub struct Pool {
    shared: Arc<PoolShared>,
}

impl Pool {
    /// Returns the default settings of a pool, to be changed and [built](Builder::build).
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn with_shared(shared: Arc<PoolShared>) -> Self {
        Self { shared }
    }

    /// Ends a pool only some of whose threads have started, and waits for these threads.
    pub(crate) fn abandon(self) {
        self.shared.end(false);
        self.shared.threads.wait(|| true);
    }

    /// Returns a handle, with which any thread can submit tasks.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle::new(self.shared.clone())
    }

    /// Returns what the pool has done so far.
    #[must_use]
    pub fn stats(&self) -> PoolStats {
        self.shared.stats()
    }

    /// Returns the number of workers, without spare ones.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.shared.workers()
    }

    /// Shuts the pool down: refuses new work, runs all tasks that it has, and ends the threads.
    /// After `at_most`, discards the tasks that have not begun. Returns a report of the shutdown.
    ///
    /// A task that has begun is never interrupted. The thread of a task that runs too long is left
    /// behind, and so is the thread of a worker that owns begun tasks which wait. After `at_most`,
    /// this call waits 200 ms longer for threads that may be about to end, and for as long as tasks
    /// are being discarded. If one of the pool's own workers calls it, it does not wait at all.
    pub fn shutdown(self, at_most: Option<Duration>) -> ShutdownReport {
        self.handle().shutdown(at_most)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.begin_drain(None);
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("shared", &self.shared).finish()
    }
}
