//! Why work was not accepted.

use super::work_queue::Job;
use crate::rt::{impl_debug, impl_error};

/// The [`ExecutionQueue`](super::ExecutionQueue) was stopped, or its runtime shut down: the task comes back.
#[derive(Clone, PartialEq, Eq)]
pub struct ExecuteError<T>(pub T);

/// The [`WorkQueue`](super::WorkQueue) was stopped, or its runtime shut down: the job comes back.
pub struct PushError(pub Job);

const STOPPED: &str = "the queue was stopped, or its runtime shut down";

impl_debug!(ExecuteError<T>, ..);

impl_error!(ExecuteError<T>, STOPPED);

impl_debug!(PushError, ..);

impl_error!(PushError, STOPPED);
