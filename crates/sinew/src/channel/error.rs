//! Why something was not sent, received or selected, each way with an error of its own. The names are crossbeam-channel's.

use std::error::Error;
use std::fmt;

use crate::fiber::Stopped;
use crate::rt::impl_error;

/// Nobody is left to receive the message, which is in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

impl<T> SendError<T> {
    /// The message.
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

/// Why a message was not sent at once. It is in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// There is no room; with a capacity of 0, nobody waits for it.
    Full(T),
    /// Nobody is left to receive it.
    Disconnected(T),
}

impl<T> TrySendError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(message) | Self::Disconnected(message) => message,
        }
    }

    /// Whether there was no room.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// Whether nobody is left to receive it.
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

/// Why a message was not sent in time. It is in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// There was no room until the time was over.
    Timeout(T),
    /// Nobody is left to receive it.
    Disconnected(T),
}

impl<T> SendTimeoutError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        match self {
            Self::Timeout(message) | Self::Disconnected(message) => message,
        }
    }

    /// Whether the time was over.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout(_))
    }

    /// Whether nobody is left to receive it.
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

/// Why a message was not sent where [cancellation and deadlines](crate::fiber#stopping) count. It is in it.
#[derive(Clone)]
pub enum SendCancellableError<T> {
    /// Whoever sends is to stop.
    Stopped(T, Stopped),
    /// Nobody is left to receive it.
    Disconnected(T),
}

impl<T> SendCancellableError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        match self {
            Self::Stopped(message, _) | Self::Disconnected(message) => message,
        }
    }

    /// Whether whoever sends is to stop.
    pub fn is_stopped(&self) -> bool {
        matches!(self, Self::Stopped(..))
    }

    /// Whether nobody is left to receive it.
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

/// There is no message, and nobody is left to send one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvError;

impl_error!(RecvError, NOBODY_SENDS);

/// Why no message was received at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// There is none now; with a capacity of 0, nobody waits to send one.
    Empty,
    /// There is none, and nobody is left to send one.
    Disconnected,
}

impl TryRecvError {
    /// Whether there was none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }

    /// Whether nobody is left to send one.
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

/// Why no message was received in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// There was none until the time was over.
    Timeout,
    /// There is none, and nobody is left to send one.
    Disconnected,
}

impl RecvTimeoutError {
    /// Whether the time was over.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout)
    }

    /// Whether nobody is left to send one.
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

/// No operation can be done now. From [`Select::try_select`](super::Select::try_select).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrySelectError;

impl_error!(TrySelectError, "all operations in select would block");

/// No operation could be done until the time was over. From [`Select::select_timeout`](super::Select::select_timeout).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectTimeoutError;

impl_error!(SelectTimeoutError, "timed out waiting on select");

/// No operation is ready. From [`Select::try_ready`](super::Select::try_ready).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TryReadyError;

impl_error!(TryReadyError, "no operation in select is ready");

/// No operation was ready until the time was over. From [`Select::ready_timeout`](super::Select::ready_timeout).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyTimeoutError;

impl_error!(ReadyTimeoutError, "timed out waiting for an operation in select to be ready");
