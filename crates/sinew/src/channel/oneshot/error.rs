//! Errors of receiving from a oneshot channel.

use crate::rt::impl_error;

/// An error of receiving: no value was sent and none will be, or the value was already received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvError;

/// An error of receiving without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// No value was sent yet.
    Empty,
    /// No value will arrive, as for [`RecvError`].
    Closed,
}

/// An error of receiving with a time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// No value was sent until the time was over.
    Timeout,
    /// No value will arrive, as for [`RecvError`].
    Closed,
}

const CLOSED: &str = "receiving on a closed channel";

impl_error!(RecvError, CLOSED);

impl_error!(TryRecvError, |error| match error {
    TryRecvError::Empty => "receiving on an empty channel",
    TryRecvError::Closed => CLOSED,
});

impl From<RecvError> for TryRecvError {
    fn from(_: RecvError) -> Self {
        Self::Closed
    }
}

impl_error!(RecvTimeoutError, |error| match error {
    RecvTimeoutError::Timeout => "timed out waiting on a channel",
    RecvTimeoutError::Closed => CLOSED,
});

impl From<RecvError> for RecvTimeoutError {
    fn from(_: RecvError) -> Self {
        Self::Closed
    }
}
