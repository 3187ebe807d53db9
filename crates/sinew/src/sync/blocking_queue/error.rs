//! Why a value was not pushed, or there is none.

use std::fmt;

use crate::rt::{impl_debug, impl_error};

/// The [`BlockingQueue`](super::BlockingQueue) was stopped: it takes no values, and this one comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PushError<T>(pub T);

/// Why a value was not pushed by somebody who does not wait, or not for long. It comes back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TryPushError<T> {
    /// There was no room, or others wait for it.
    Full(T),
    /// The queue was stopped.
    Stopped(T),
}

/// The [`BlockingQueue`](super::BlockingQueue) was stopped, and nothing is left in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PopError;

/// Why there is no value for somebody who does not wait, or not for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryPopError {
    /// There was none.
    Empty,
    /// The queue was stopped, and nothing is left in it.
    Stopped,
}

const STOPPED: &str = "the queue was stopped";
const DRAINED: &str = "the queue was stopped, and nothing is left in it";

impl<T> TryPushError<T> {
    /// The value.
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
