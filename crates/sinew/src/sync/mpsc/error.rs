//! Why a message was not sent, where std has no error for it.

use std::fmt;

use crate::rt::impl_error;

/// Why a message was not sent in time. As the error of the same name that std has for channels, and keeps to itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// There was no room until the time was over.
    Timeout(T),
    /// Nobody is left to receive it.
    Disconnected(T),
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout(_) => "Timeout(..)",
            Self::Disconnected(_) => "Disconnected(..)",
        })
    }
}

impl_error!(SendTimeoutError<T>, |error| match error {
    SendTimeoutError::Timeout(_) => "timed out waiting for room in a channel",
    SendTimeoutError::Disconnected(_) => "sending on a closed channel",
});
