//! Why a value was not sent, or there is none.

use std::error::Error;
use std::fmt;

use crate::rt::{impl_debug, impl_error};

/// Nobody listens: the value comes back.
#[derive(Clone, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// Why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvError {
    /// All were received, and nobody is left to send one.
    Closed,
    /// The receiver was too slow: it has missed so many. The next one it receives is the oldest that is kept.
    Lagged(u64),
}

/// Why there is no value for somebody who does not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// All were received.
    Empty,
    /// As [`RecvError::Closed`].
    Closed,
    /// As [`RecvError::Lagged`].
    Lagged(u64),
}

/// Why there is no value for somebody who does not wait for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// None came until the time was over.
    Timeout,
    /// As [`RecvError::Closed`].
    Closed,
    /// As [`RecvError::Lagged`].
    Lagged(u64),
}

impl_debug!(SendError<T>, ..);

impl_error!(SendError<T>, "sending on a channel that nobody listens to");

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("receiving on a closed channel"),
            Self::Lagged(missed) => write!(f, "the receiver was too slow, and has missed {missed}"),
        }
    }
}

impl Error for RecvError {}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Empty => f.write_str("receiving on an empty channel"),
            Self::Closed => RecvError::Closed.fmt(f),
            Self::Lagged(missed) => RecvError::Lagged(missed).fmt(f),
        }
    }
}

impl Error for TryRecvError {}

impl From<RecvError> for TryRecvError {
    fn from(error: RecvError) -> Self {
        match error {
            RecvError::Closed => Self::Closed,
            RecvError::Lagged(missed) => Self::Lagged(missed),
        }
    }
}

impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Timeout => f.write_str("timed out waiting on a channel"),
            Self::Closed => RecvError::Closed.fmt(f),
            Self::Lagged(missed) => RecvError::Lagged(missed).fmt(f),
        }
    }
}

impl Error for RecvTimeoutError {}

impl From<RecvError> for RecvTimeoutError {
    fn from(error: RecvError) -> Self {
        match error {
            RecvError::Closed => Self::Closed,
            RecvError::Lagged(missed) => Self::Lagged(missed),
        }
    }
}
