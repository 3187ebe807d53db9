//! A queue of functions.

use std::time::Duration;

use super::batch::Batch;
use super::error::PushError;
use super::lane::Urgency;
use super::owner::Owner;
use super::queue_methods::queue_methods;
use super::report::JoinError;
use super::shared::WorkSettings;
use crate::fiber::Stopped;
use crate::rt::{impl_debug, impl_unwind_safe};

/// A function in a [`WorkQueue`].
pub type Job = Box<dyn FnOnce() + Send + 'static>;

/// Functions that a fiber calls one after the other, in the order in which they were pushed.
///
/// Any number of fibers and threads may push, and never wait. A job may wait, which delays only the
/// jobs behind it. Jobs are run by one fiber at a time, though not always by the same one: the
/// fiber ends when no job is left, and another one is started for the next job.
///
/// A job that panics does not stop the jobs behind it. The panic hook reports the panic as that of
/// any fiber, and a [join](Self::join) reports the number of panics, and the message of the first
/// one.
///
/// Dropping the queue stops it, and does not wait: the jobs are done, unless the process or the
/// runtime [ends first](super#the-end-of-the-runtime). [Join](Self::join) the queue where that
/// matters.
///
/// ```
/// use sinew::sync::mpsc;
/// use sinew::work::WorkQueue;
///
/// let queue = WorkQueue::new();
/// let (sender, receiver) = mpsc::channel();
/// for number in 0..3 {
///     let sender = sender.clone();
///     queue.push(move || sender.send(number).unwrap()).unwrap();
/// }
/// drop(sender);
/// assert!(receiver.iter().eq(0..3));
/// queue.stop();
/// queue.join().unwrap();
/// let job = queue.push(|| unreachable!("it is stopped")).unwrap_err().0;
/// drop(job);
/// ```
#[must_use = "a queue that is dropped is stopped"]
pub struct WorkQueue {
    owner: Owner<Job>,
}

// No user code runs while it is changed.
impl_unwind_safe!(WorkQueue);

impl WorkQueue {
    /// Makes a queue in the runtime of the calling fiber, or in the default runtime. Use
    /// [`Builder`](super::Builder) to configure its fibers.
    ///
    /// # Panics
    ///
    /// Panics if the default runtime has to be started and cannot be.
    #[track_caller]
    pub fn new() -> Self {
        Self::with(WorkSettings::default())
    }

    #[track_caller]
    pub(super) fn with(settings: WorkSettings) -> Self {
        // If a job panics, the next call continues with the rest.
        Self {
            owner: Owner::new(settings, false, Box::new(|batch: Batch<'_, Job>| batch.for_each(|job| job()))),
        }
    }

    /// Pushes a function, which is called after all that were pushed before. Never waits.
    ///
    /// # Errors
    ///
    /// Returns an error if the queue was stopped, or its runtime shut down. The error contains the
    /// job.
    pub fn push(&self, job: impl FnOnce() + Send + 'static) -> Result<(), PushError> {
        self.owner.push(Box::new(job), Urgency::Normal).map_err(PushError)
    }

    /// Stops the queue: it accepts no more jobs. Accepted jobs are still done. Never waits.
    pub fn stop(&self) {
        self.owner.stop();
    }

    /// Waits until the queue was stopped, by a call or by the shutdown of its runtime, and all jobs
    /// are done. Several fibers and threads may join at once.
    ///
    /// # Errors
    ///
    /// Returns an error if jobs panicked, or were lost because the runtime was shut down.
    ///
    /// # Panics
    ///
    /// Panics if a job of the queue calls this, or if the caller would have to wait inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn join(&self) -> Result<(), JoinError> {
        self.owner.join()
    }

    queue_methods!();
}

impl Default for WorkQueue {
    fn default() -> Self {
        Self::new()
    }
}

impl_debug!(WorkQueue, |queue| { is_stopped: queue.is_stopped(), .. });
