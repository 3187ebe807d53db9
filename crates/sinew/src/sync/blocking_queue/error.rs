//! The errors of a blocking queue.

use std::fmt;

use crate::rt::{impl_debug, impl_error};

/// The error of a push into a [`BlockingQueue`](super::BlockingQueue) that was stopped, with the
/// value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PushError<T>(pub T);

/// The error of a push that does not wait, or waits for a limited time, with the value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TryPushError<T> {
    /// There was no room, or other callers wait for it.
    Full(T),
    /// The queue was stopped.
    Stopped(T),
}

/// The error of a pop from a [`BlockingQueue`](super::BlockingQueue) that was stopped and is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PopError;

/// The error of a pop that does not wait, or waits for a limited time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryPopError {
    /// The queue is empty.
    Empty,
    /// The queue was stopped and is empty.
    Stopped,
}

const STOPPED: &str = "the queue was stopped";
const DRAINED: &str = "the queue was stopped, and nothing is left in it";

impl<T> TryPushError<T> {
    /// Returns the value.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(value) | Self::Stopped(value) => value,
        }
    }
}

impl_debug!(PushError<T>, ..);

impl_error!(PushError<T>, STOPPED);

impl<T> fmt::Debug for TryPushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Stopped(_) => "Stopped(..)",
        })
    }
}

impl_error!(TryPushError<T>, |error| match error {
    TryPushError::Full(_) => "the queue is full",
    TryPushError::Stopped(_) => STOPPED,
});

impl<T> From<PushError<T>> for TryPushError<T> {
    fn from(PushError(value): PushError<T>) -> Self {
        Self::Stopped(value)
    }
}

impl_error!(PopError, DRAINED);

impl_error!(TryPopError, |error| match error {
    TryPopError::Empty => "the queue is empty",
    TryPopError::Stopped => DRAINED,
});

impl From<PopError> for TryPopError {
    fn from(_: PopError) -> Self {
        Self::Stopped
    }
}
