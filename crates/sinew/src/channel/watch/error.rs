//! Errors of a watch channel.

use crate::rt::{impl_debug, impl_error};

/// An error of sending: all receivers are gone. Contains the value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// An error of waiting: all senders are gone, and there is no value that the receiver has not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvError(pub(super) ());

/// An error of waiting with a time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// There was no new value until the time was over.
    Timeout,
    /// All senders are gone, as for [`RecvError`].
    Closed,
}

const CLOSED: &str = "receiving on a closed channel";

impl_debug!(SendError<T>, ..);

impl_error!(SendError<T>, "sending on a channel without receivers");

impl_error!(RecvError, CLOSED);

impl_error!(RecvTimeoutError, |error| match error {
    RecvTimeoutError::Timeout => "timed out waiting on a channel",
    RecvTimeoutError::Closed => CLOSED,
});

impl From<RecvError> for RecvTimeoutError {
    fn from(_: RecvError) -> Self {
        Self::Closed
    }
}
