//! Errors of a watch channel.

use crate::rt::{impl_debug, impl_error};

/// All receivers are gone. Contains the value that was not sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// All senders are gone, and there is no value that the receiver has not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvError(pub(super) ());

/// Why a wait with a time limit ended without a new value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// The time is over.
    Timeout,
    /// As [`RecvError`].
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
