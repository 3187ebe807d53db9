//! Why work was not accepted.

use std::error::Error;
use std::fmt;

use super::work_queue::Job;

/// The [`ExecutionQueue`](super::ExecutionQueue) was stopped, or its runtime shut down: the task comes back.
#[derive(Clone, PartialEq, Eq)]
pub struct ExecuteError<T>(pub T);

/// The [`WorkQueue`](super::WorkQueue) was stopped, or its runtime shut down: the job comes back.
pub struct PushError(pub Job);

const STOPPED: &str = "the queue was stopped, or its runtime shut down";

impl<T> fmt::Debug for ExecuteError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecuteError").finish_non_exhaustive()
    }
}

impl<T> fmt::Display for ExecuteError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(STOPPED)
    }
}

impl<T> Error for ExecuteError<T> {}

impl fmt::Debug for PushError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushError").finish_non_exhaustive()
    }
}

impl fmt::Display for PushError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(STOPPED)
    }
}

impl Error for PushError {}
