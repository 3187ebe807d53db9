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

/// What a [`WorkQueue`] has to do.
pub type Job = Box<dyn FnOnce() + Send + 'static>;

/// Functions that a fiber calls one after the other, in the order in which they were pushed.
///
/// Any number push, fibers and threads alike, and never wait. A job may wait, and keeps those after it waiting, and nobody else. Jobs are done
/// by one fiber at a time, though not always by the same one: it ends when nothing is left, and another one is started for the next job.
///
/// A job that panics does not stop those after it. The panic hook tells of it as of any fiber's panic, and a [join](Self::join) how many there were,
/// and what the first one said.
///
/// Dropping the queue stops it, and waits for nothing: what was pushed is done, unless the process or the runtime
/// [ends first](super#the-end-of-the-runtime). [Join](Self::join) it where that matters.
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

// No code of the user's runs while it is changed.
impl_unwind_safe!(WorkQueue);

impl WorkQueue {
    /// A queue in the runtime of the calling fiber, or in the default one. [`Builder`](super::Builder) has more to say of its fibers.
    ///
    /// # Panics
    ///
    /// If the default runtime is to start and cannot.
    #[track_caller]
    pub fn new() -> Self {
        Self::with(WorkSettings::default())
    }

    #[track_caller]
    pub(super) fn with(settings: WorkSettings) -> Self {
        // If one panics, the next call goes on with the rest.
        Self {
            owner: Owner::new(settings, false, Box::new(|batch: Batch<'_, Job>| batch.for_each(|job| job()))),
        }
    }

    /// Has this function called, after all that were pushed before. Never waits.
    ///
    /// # Errors
    ///
    /// If the queue was stopped, or its runtime shut down. The job is in the error.
    pub fn push(&self, job: impl FnOnce() + Send + 'static) -> Result<(), PushError> {
        self.owner.push(Box::new(job), Urgency::Normal).map_err(PushError)
    }

    /// Accepts no more jobs. Those that are there are done. Never waits.
    pub fn stop(&self) {
        self.owner.stop();
    }

    /// Waits until the queue was stopped, by anybody or by the shutdown of its runtime, and all jobs are done. Any number may join.
    ///
    /// # Errors
    ///
    /// If jobs panicked, or were lost since the runtime was shut down.
    ///
    /// # Panics
    ///
    /// If a job of the queue calls this. If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
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
