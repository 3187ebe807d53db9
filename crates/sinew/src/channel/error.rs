//! Errors of sending, receiving and selecting. Their names are those of crossbeam-channel.

use std::error::Error;
use std::fmt;

use crate::fiber::Stopped;
use crate::rt::impl_error;

/// An error of sending: all receivers are gone. Contains the message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

impl<T> SendError<T> {
    /// Returns the message.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SendError(..)")
    }
}

impl_error!(SendError<T: Send>, NOBODY_RECEIVES);

/// An error of sending without waiting. Contains the message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// There is no room; with a capacity of 0, no receiver waits.
    Full(T),
    /// All receivers are gone.
    Disconnected(T),
}

impl<T> TrySendError<T> {
    /// Returns the message.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(message) | Self::Disconnected(message) => message,
        }
    }

    /// Returns whether there was no room.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// Returns whether all receivers are gone.
    pub fn is_disconnected(&self) -> bool {
        matches!(self, Self::Disconnected(_))
    }
}

impl<T> From<SendError<T>> for TrySendError<T> {
    fn from(error: SendError<T>) -> Self {
        Self::Disconnected(error.0)
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if self.is_full() { "Full(..)" } else { "Disconnected(..)" })
    }
}

impl_error!(TrySendError<T: Send>, |error| match error.is_full() {
    true => "sending on a full channel",
    false => NOBODY_RECEIVES,
});

/// An error of sending with a time limit. Contains the message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// There was no room until the time was over.
    Timeout(T),
    /// All receivers are gone.
    Disconnected(T),
}

impl<T> SendTimeoutError<T> {
    /// Returns the message.
    pub fn into_inner(self) -> T {
        match self {
            Self::Timeout(message) | Self::Disconnected(message) => message,
        }
    }

    /// Returns whether the time was over.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout(_))
    }

    /// Returns whether all receivers are gone.
    pub fn is_disconnected(&self) -> bool {
        matches!(self, Self::Disconnected(_))
    }
}

impl<T> From<SendError<T>> for SendTimeoutError<T> {
    fn from(error: SendError<T>) -> Self {
        Self::Disconnected(error.0)
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SendTimeoutError(..)")
    }
}

impl_error!(SendTimeoutError<T: Send>, |error| match error.is_timeout() {
    true => "timed out waiting on send operation",
    false => NOBODY_RECEIVES,
});

/// An error of sending where [cancellation and deadlines](crate::fiber#stopping) end the wait.
/// Contains the message.
#[derive(Clone)]
pub enum SendCancellableError<T> {
    /// The sender was stopped while it waited for room.
    Stopped(T, Stopped),
    /// All receivers are gone.
    Disconnected(T),
}

impl<T> SendCancellableError<T> {
    /// Returns the message.
    pub fn into_inner(self) -> T {
        match self {
            Self::Stopped(message, _) | Self::Disconnected(message) => message,
        }
    }

    /// Returns whether the sender was stopped.
    pub fn is_stopped(&self) -> bool {
        matches!(self, Self::Stopped(..))
    }

    /// Returns whether all receivers are gone.
    pub fn is_disconnected(&self) -> bool {
        matches!(self, Self::Disconnected(_))
    }
}

impl<T> From<SendError<T>> for SendCancellableError<T> {
    fn from(error: SendError<T>) -> Self {
        Self::Disconnected(error.0)
    }
}

impl<T> fmt::Debug for SendCancellableError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped(_, stopped) => write!(f, "Stopped(.., {stopped:?})"),
            Self::Disconnected(_) => f.pad("Disconnected(..)"),
        }
    }
}

impl<T> fmt::Display for SendCancellableError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped(..) => f.pad("stopped while waiting for room in a channel"),
            Self::Disconnected(_) => f.pad(NOBODY_RECEIVES),
        }
    }
}

impl<T> Error for SendCancellableError<T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Stopped(_, stopped) => Some(stopped),
            Self::Disconnected(_) => None,
        }
    }
}

const NOBODY_RECEIVES: &str = "sending on a disconnected channel";
const NOBODY_SENDS: &str = "receiving on an empty and disconnected channel";

/// An error of receiving: there is no message, and all senders are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvError;

impl_error!(RecvError, NOBODY_SENDS);

/// An error of receiving without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// There is no message now; with a capacity of 0, no sender waits.
    Empty,
    /// There is no message, and all senders are gone.
    Disconnected,
}

impl TryRecvError {
    /// Returns whether there was no message, while senders are left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }

    /// Returns whether all senders are gone.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        matches!(self, Self::Disconnected)
    }
}

impl From<RecvError> for TryRecvError {
    fn from(_: RecvError) -> Self {
        Self::Disconnected
    }
}

impl_error!(TryRecvError, |error| match error.is_empty() {
    true => "receiving on an empty channel",
    false => NOBODY_SENDS,
});

/// An error of receiving with a time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// No message arrived until the time was over.
    Timeout,
    /// There is no message, and all senders are gone.
    Disconnected,
}

impl RecvTimeoutError {
    /// Returns whether the time was over.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout)
    }

    /// Returns whether all senders are gone.
    #[must_use]
    pub fn is_disconnected(&self) -> bool {
        matches!(self, Self::Disconnected)
    }
}

impl From<RecvError> for RecvTimeoutError {
    fn from(_: RecvError) -> Self {
        Self::Disconnected
    }
}

impl_error!(RecvTimeoutError, |error| match error.is_timeout() {
    true => "timed out waiting on receive operation",
    false => "channel is empty and disconnected",
});
