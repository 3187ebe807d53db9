//! Why there is no value.

use crate::rt::impl_error;

/// No value was sent, and none will be; or it was received already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvError;

/// Why there is no value for somebody who does not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// None was sent yet.
    Empty,
    /// None will come: as [`RecvError`].
    Closed,
}

/// Why there is no value for somebody who does not wait for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// None was sent until the time was over.
    Timeout,
    /// None will come: as [`RecvError`].
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
