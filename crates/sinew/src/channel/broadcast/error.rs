//! Errors of a broadcast channel.

use std::error::Error;
use std::fmt;

use crate::rt::{impl_debug, impl_error};

/// An error of sending: there is no receiver. Contains the value.
#[derive(Clone, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// An error of receiving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvError {
    /// All values were received, and all senders are gone.
    Closed,
    /// The receiver was too slow and has missed this number of values. The next value that it
    /// receives is the oldest that is stored.
    Lagged(u64),
}

/// An error of receiving without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// All values that were sent are received.
    Empty,
    /// The same as [`RecvError::Closed`].
    Closed,
    /// The same as [`RecvError::Lagged`].
    Lagged(u64),
}

/// An error of receiving with a time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// No value was sent until the time was over.
    Timeout,
    /// The same as [`RecvError::Closed`].
    Closed,
    /// The same as [`RecvError::Lagged`].
    Lagged(u64),
}

impl_debug!(SendError<T>, ..);

impl_error!(SendError<T>, "sending on a channel without receivers");

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("receiving on a closed channel"),
            Self::Lagged(missed) => write!(f, "the receiver was too slow and missed {missed} values"),
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
