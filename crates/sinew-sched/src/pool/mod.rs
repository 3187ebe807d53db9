//! The pool: threads, each with a worker. Knows groups, and no tasks but what it is handed.

mod builder;
mod error;
mod handle;
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

/// Threads that run tasks.
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
/// Dropping a pool begins its shutdown and does not wait: what was submitted is done, and then the threads end.
pub struct Pool {
    shared: Arc<PoolShared>,
}

impl Pool {
    /// Settings of one's own.
    pub fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn with_shared(shared: Arc<PoolShared>) -> Self {
        Self { shared }
    }

    /// Ends a pool that has not all of its threads, and waits for those that it has.
    pub(crate) fn abandon(self) {
        self.shared.end(false);
        self.shared.threads.wait(|| true);
    }

    /// For submitting work from anywhere.
    #[must_use]
    pub fn handle(&self) -> Handle {
        Handle::new(self.shared.clone())
    }

    /// What has been done so far.
    #[must_use]
    pub fn stats(&self) -> PoolStats {
        self.shared.stats()
    }

    /// How many workers there are, spare ones not counted.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.shared.workers()
    }

    /// Takes no new work, does all that there is, and ends the threads; after `at_most` it discards what has not begun.
    /// Tells what came of it.
    ///
    /// A task that has begun is never interrupted: the thread of one that runs too long is left alone, and so is that of a
    /// worker with tasks that have begun and wait. After `at_most` this waits 200 ms longer for threads that may be about to
    /// end, and for as long as tasks are being discarded. Called by one of the pool's own workers, it does not wait at all.
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
