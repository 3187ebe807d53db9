//! A queue whose tasks one function is given in batches.

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
/// The function is called with a [`Batch`]: all tasks that have come, in order. It is never called twice at the same time, so what it changes
/// needs no lock; and many small tasks cost it one call, so that it may write them to a file in one go, say. It may wait, which keeps
/// others of its runtime from nothing. Bringing a task is one allocation and one exchange of a word, and waits for nobody.
///
/// [`execute_urgent`](Self::execute_urgent) brings a task that goes before all others that were not handed out yet, but for urgent ones that came earlier.
///
/// When the queue was [stopped](Self::stop) and all is done, the function is called once more, with an empty batch that
/// [says so](Batch::is_stopped), and then dropped. That happens in a fiber too. The shutdown of the runtime stops the queue, and leaves it
/// [its time](super#the-end-of-the-runtime) for all of this; if that was too short, the last call is not made, and a join
/// [says so](JoinError::missed_last_call).
///
/// Dropping the queue stops it, and waits for nothing. What was brought is done and the last call made, unless the process or the runtime ends first:
/// [join](Self::join) it where that matters.
///
/// # Panics of the function
///
/// The task that the function has in hand is lost to it. If it has not taken any yet, it loses the first one, which counts as
/// [lost](JoinError::lost): it would be called with the same ones for ever. All others stay: it is called again, with the rest of the batch first. The
/// panic hook tells of each panic, and a [join](Self::join) how many there were. What the function has changed may be half done then: that is
/// its own to see to.
///
/// # A function that takes nothing
///
/// It is called again for as long as there is something to take, and other fibers have a turn between two calls; but it keeps a worker busy, and
/// the queue from its end, also when that was stopped. A function that cannot go on yet had better wait for what it needs.
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

// No code of the user's runs while it is changed.
impl<T: Send> UnwindSafe for ExecutionQueue<T> {}
impl<T: Send> RefUnwindSafe for ExecutionQueue<T> {}

impl<T: Send + 'static> ExecutionQueue<T> {
    /// A queue for this function, in the runtime of the calling fiber, or in the default one. [`Builder`](super::Builder) has more to say of its
    /// fibers.
    ///
    /// # Panics
    ///
    /// If the default runtime is to start and cannot.
    #[track_caller]
    pub fn new(work: impl FnMut(Batch<'_, T>) + Send + 'static) -> Self {
        Self::with(WorkSettings::default(), work)
    }

    #[track_caller]
    pub(super) fn with(settings: WorkSettings, work: impl FnMut(Batch<'_, T>) + Send + 'static) -> Self {
        Self { owner: Owner::new(settings, true, Box::new(work)) }
    }

    /// Brings a task. Never waits.
    ///
    /// # Errors
    ///
    /// If the queue was stopped, or its runtime shut down. The task is in the error.
    pub fn execute(&self, task: T) -> Result<(), ExecuteError<T>> {
        self.owner.push(task, Urgency::Normal).map_err(ExecuteError)
    }

    /// Brings a task that goes before others, which were not handed out yet and are not urgent. Never waits.
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute).
    pub fn execute_urgent(&self, task: T) -> Result<(), ExecuteError<T>> {
        self.owner.push(task, Urgency::Urgent).map_err(ExecuteError)
    }

    /// Accepts no more tasks. Those that are there are done. Never waits.
    pub fn stop(&self) {
        self.owner.stop();
    }

    /// Waits until the queue was stopped, by anybody or by the shutdown of its runtime, and all is done; the last call of the function included. Any
    /// number may join.
    ///
    /// # Errors
    ///
    /// If the function panicked, or tasks were lost or the last call was not made since the runtime was shut down.
    ///
    /// # Panics
    ///
    /// If the function itself calls this. If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
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
