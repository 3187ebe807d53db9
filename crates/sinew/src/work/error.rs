//! Errors of pushing work.

use super::work_queue::Job;
use crate::rt::{impl_debug, impl_error};

/// An error of [`ExecutionQueue::execute`](super::ExecutionQueue::execute): the queue was stopped,
/// or its runtime shut down. Contains the task.
#[derive(Clone, PartialEq, Eq)]
pub struct ExecuteError<T>(pub T);

/// An error of [`WorkQueue::push`](super::WorkQueue::push): the queue was stopped, or its runtime
/// shut down. Contains the job.
pub struct PushError(pub Job);

const STOPPED: &str = "the queue was stopped, or its runtime shut down";

impl_debug!(ExecuteError<T>, ..);

impl_error!(ExecuteError<T>, STOPPED);

impl_debug!(PushError, ..);

impl_error!(PushError, STOPPED);
