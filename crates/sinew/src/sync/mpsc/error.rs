//! Why a message was not sent, where std has no error for it.

use std::error::Error;
use std::fmt;

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

impl<T> fmt::Display for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout(_) => "timed out waiting for room in a channel",
            Self::Disconnected(_) => "sending on a closed channel",
        })
    }
}

impl<T> Error for SendTimeoutError<T> {}
