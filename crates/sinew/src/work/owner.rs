//! The owner of a queue: what both kinds of queues have in common. Stops the queue when it is
//! dropped. Knows no public names.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use super::lane::Urgency;
use super::report::JoinError;
use super::shared::{Work, WorkSettings, WorkShared};
use crate::fiber::Stopped;
use crate::rt::{GaveUp, Limit};

/// The owner of a queue.
pub(super) struct Owner<T: Send + 'static>(Arc<WorkShared<T>>);

impl<T: Send + 'static> Owner<T> {
    #[track_caller]
    pub(super) fn new(settings: WorkSettings, hears_of_end: bool, work: Work<T>) -> Self {
        Self(WorkShared::new(settings, hears_of_end, work))
    }

    /// Pushes a task.
    ///
    /// # Errors
    ///
    /// Returns the task if the queue is stopped.
    pub(super) fn push(&self, task: T, urgency: Urgency) -> Result<(), T> {
        self.0.push(task, urgency)
    }

    pub(super) fn stop(&self) {
        self.0.stop();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }

    /// Waits for the end of the queue.
    ///
    /// # Errors
    ///
    /// Returns an error if work panicked or was not done.
    #[track_caller]
    pub(super) fn join(&self) -> Result<(), JoinError> {
        // This wait has no limit, so it is never given up.
        self.0.join(Limit::NEVER).unwrap_or(Ok(()))
    }

    #[track_caller]
    pub(super) fn join_timeout(&self, timeout: Duration) -> Option<Result<(), JoinError>> {
        self.0.join(Limit::lasting(timeout)).ok()
    }

    /// Waits for the end of the queue, and gives up when the caller is stopped.
    ///
    /// # Errors
    ///
    /// Returns the outer error if the caller is stopped before.
    #[track_caller]
    pub(super) fn join_cancellable(&self) -> Result<Result<(), JoinError>, Stopped> {
        match self.0.join(Limit::STOP) {
            Ok(joined) => Ok(joined),
            Err(GaveUp::Stopped(stop)) => Err(Stopped::new(stop, Location::caller())),
            Err(GaveUp::TimedOut) => unreachable!("there is no limit of time"),
        }
    }
}

impl<T: Send + 'static> Drop for Owner<T> {
    fn drop(&mut self) {
        self.stop();
    }
}
