//! The result of the work, for the callers of `join`.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// An error of joining a queue: some of the work panicked, or was not done.
///
/// ```
/// use sinew::work::WorkQueue;
///
/// let queue = WorkQueue::new();
/// queue.push(|| panic!("no paper")).unwrap();
/// queue.push(|| panic!("no ink")).unwrap();
/// queue.stop();
/// let error = queue.join().unwrap_err();
/// assert_eq!((error.panics(), error.message()), (2, Some("no paper")));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JoinError {
    panics: usize,
    message: Option<Arc<str>>,
    lost: usize,
    missed_last_call: bool,
}

impl JoinError {
    /// Returns how often the work panicked. The panic hook has reported each panic, as for any
    /// fiber.
    #[must_use]
    pub fn panics(&self) -> usize {
        self.panics
    }

    /// Returns the message of the first of these panics, if it had one.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// Returns the number of tasks that were accepted and never handed out: because the runtime was
    /// shut down, or because the function of an [`ExecutionQueue`](super::ExecutionQueue) panicked
    /// before it took one.
    #[must_use]
    pub fn lost(&self) -> usize {
        self.lost
    }

    /// Returns whether the last call of an [`ExecutionQueue`](super::ExecutionQueue)'s function,
    /// with the batch that [reports the end](super::Batch::is_stopped), was not made because the
    /// runtime was shut down. The work of that call, such as writing out data, was not done.
    #[must_use]
    pub fn missed_last_call(&self) -> bool {
        self.missed_last_call
    }

    /// Records lost tasks.
    pub(super) fn lose(&mut self, tasks: usize) {
        self.lost += tasks;
    }

    /// Records that the last call was not made.
    pub(super) fn miss_last_call(&mut self) {
        self.missed_last_call = true;
    }

    /// Records a panic, and takes its message if that is to be kept. Nothing is freed here.
    pub(super) fn note(&mut self, message: &mut Option<Arc<str>>) {
        if self.panics == 0 {
            self.message = message.take();
        }
        self.panics += 1;
    }

    /// Converts the report into a result.
    ///
    /// # Errors
    ///
    /// Returns the report if work panicked or was not done.
    pub(super) fn into_result(self) -> Result<(), Self> {
        if self.panics + self.lost == 0 && !self.missed_last_call { Ok(()) } else { Err(self) }
    }
}

/// Returns the message of a panic.
pub(super) fn message(payload: &(dyn Any + Send)) -> Option<Arc<str>> {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).map(Arc::from)
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut and = "";
        if self.panics > 0 {
            write!(f, "panics in the queue's work: {}", self.panics)?;
            self.message.iter().try_for_each(|message| write!(f, ", the first one: {message}"))?;
            and = "; ";
        }
        if self.lost > 0 {
            write!(f, "{and}tasks that were not done, nor handed out: {}", self.lost)?;
            and = "; ";
        }
        if self.missed_last_call {
            write!(f, "{and}the last call was not made, since the runtime was shut down")?;
        }
        Ok(())
    }
}

impl Error for JoinError {}
