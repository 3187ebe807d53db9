//! A queue whose tasks are passed to one function in batches.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use super::batch::Batch;
use super::error::ExecuteError;
use super::lane::Urgency;
use super::owner::Owner;
use super::queue_methods::queue_methods;
use super::report::JoinError;
use super::shared::WorkSettings;
use crate::fiber::Stopped;

/// Tasks from any number of fibers and threads, for one function that a fiber calls with all tasks
/// that have arrived.
///
/// The function is called with a [`Batch`]: all tasks that have arrived, in order. It is never
/// called in parallel, so the data that it changes needs no lock. Many small tasks cost one call,
/// so it may write them to a file at once, for example. It may wait, which does not delay other
/// fibers of its runtime. Pushing a task is one allocation and one atomic exchange, and never
/// waits.
///
/// [`execute_urgent`](Self::execute_urgent) pushes a task that goes before all tasks that were not
/// handed out yet, except for earlier urgent ones.
///
/// When the queue was [stopped](Self::stop) and all tasks are done, the function is called once
/// more, with an empty batch that [reports the end](Batch::is_stopped), and then dropped, also in a
/// fiber. The shutdown of the runtime stops the queue, and leaves it [some
/// time](super#the-end-of-the-runtime) for all of this. If the time was too short, the last call is
/// not made, and a join [reports that](JoinError::missed_last_call).
///
/// Dropping the queue stops it, and does not wait. The tasks are done and the last call is made,
/// unless the process or the runtime ends first: [join](Self::join) the queue where that matters.
///
/// # Panics of the function
///
/// The task that the function has taken last is lost to it. If it has not taken any, it loses the
/// first one, which counts as [lost](JoinError::lost): otherwise it would be called with the same
/// tasks forever. All other tasks stay: it is called again, with the rest of the batch first. The
/// panic hook reports each panic, and a [join](Self::join) reports their number. Data that the
/// function was changing may be inconsistent then; the function has to handle that.
///
/// # A function that takes nothing
///
/// It is called again as long as there is a task to take, and other fibers run between two calls.
/// But it keeps a worker busy, and the queue never ends, even if it is stopped. A function that
/// cannot continue yet should wait for what it needs.
///
/// ```
/// use sinew::sync::mpsc;
/// use sinew::work::ExecutionQueue;
///
/// let (sender, sums) = mpsc::channel();
/// let mut sum = 0;
/// let queue = ExecutionQueue::new(move |mut batch| {
///     sum += batch.by_ref().sum::<u32>();
///     if batch.is_stopped() {
///         sender.send(sum).unwrap();
///     }
/// });
/// (1..=10).for_each(|task| queue.execute(task).unwrap());
/// queue.stop();
/// queue.join().unwrap();
/// assert_eq!(sums.recv(), Ok(55));
/// assert_eq!(queue.execute(11).unwrap_err().0, 11);
/// ```
#[must_use = "a queue that is dropped is stopped"]
pub struct ExecutionQueue<T: Send + 'static> {
    owner: Owner<T>,
}

// No user code runs while it is changed.
impl<T: Send> UnwindSafe for ExecutionQueue<T> {}
impl<T: Send> RefUnwindSafe for ExecutionQueue<T> {}

impl<T: Send + 'static> ExecutionQueue<T> {
    /// Makes a queue for this function, in the runtime of the calling fiber, or in the default
    /// runtime. Use [`Builder`](super::Builder) to configure its fibers.
    ///
    /// # Panics
    ///
    /// Panics if the default runtime has to be started and cannot be.
    #[track_caller]
    pub fn new(work: impl FnMut(Batch<'_, T>) + Send + 'static) -> Self {
        Self::with(WorkSettings::default(), work)
    }

    #[track_caller]
    pub(super) fn with(settings: WorkSettings, work: impl FnMut(Batch<'_, T>) + Send + 'static) -> Self {
        Self { owner: Owner::new(settings, true, Box::new(work)) }
    }

    /// Pushes a task. Never waits.
    ///
    /// # Errors
    ///
    /// Returns an error if the queue was stopped, or its runtime shut down. The error contains the
    /// task.
    pub fn execute(&self, task: T) -> Result<(), ExecuteError<T>> {
        self.owner.push(task, Urgency::Normal).map_err(ExecuteError)
    }

    /// Pushes a task that goes before all tasks that were not handed out yet and are not urgent.
    /// Never waits.
    ///
    /// ```
    /// use sinew::sync::mpsc;
    /// use sinew::work::ExecutionQueue;
    ///
    /// let (sender, done) = mpsc::channel();
    /// let queue = ExecutionQueue::new(move |batch| {
    ///     batch.for_each(|task| sender.send(task).unwrap());
    /// });
    /// queue.execute("normal").unwrap();
    /// queue.execute_urgent("urgent").unwrap();
    /// queue.stop();
    /// queue.join().unwrap();
    /// assert_eq!(done.iter().count(), 2);
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error as [`execute`](Self::execute) does.
    pub fn execute_urgent(&self, task: T) -> Result<(), ExecuteError<T>> {
        self.owner.push(task, Urgency::Urgent).map_err(ExecuteError)
    }

    /// Stops the queue: it accepts no more tasks. Accepted tasks are still done. Never waits.
    pub fn stop(&self) {
        self.owner.stop();
    }

    /// Waits until the queue was stopped, by a call or by the shutdown of its runtime, and all
    /// tasks and the last call of the function are done. Several fibers and threads may join at
    /// once.
    ///
    /// # Errors
    ///
    /// Returns an error if the function panicked, or if tasks were lost or the last call was not
    /// made because the runtime was shut down.
    ///
    /// # Panics
    ///
    /// Panics if the function itself calls this, or if the caller would have to wait inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    #[track_caller]
    pub fn join(&self) -> Result<(), JoinError> {
        self.owner.join()
    }

    queue_methods!();
}

impl<T: Send + 'static> fmt::Debug for ExecutionQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutionQueue").field("is_stopped", &self.is_stopped()).finish_non_exhaustive()
    }
}
