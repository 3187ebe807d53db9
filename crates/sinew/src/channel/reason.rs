//! Why nothing was sent or received, inside. Each way to send or receive has an error of its own outside.

use crate::rt::{GaveUp, Stop};

/// Why a message was not sent, and the message.
#[derive(Debug)]
pub(crate) enum NotSent<T> {
    /// Nobody is left to receive it.
    Closed(T),
    /// There was no room until the time was over.
    TimedOut(T),
    /// Whoever sends is to stop.
    Stopped(T, Stop),
}

impl<T> NotSent<T> {
    /// The message.
    pub(crate) fn into_inner(self) -> T {
        match self {
            Self::Closed(message) | Self::TimedOut(message) | Self::Stopped(message, _) => message,
        }
    }

    pub(super) fn gave_up(message: T, why: GaveUp) -> Self {
        match why {
            GaveUp::TimedOut => Self::TimedOut(message),
            GaveUp::Stopped(stop) => Self::Stopped(message, stop),
        }
    }
}

impl NotSent<()> {
    /// The same, of this message.
    pub(super) fn with<T>(self, message: T) -> NotSent<T> {
        match self {
            Self::Closed(()) => NotSent::Closed(message),
            Self::TimedOut(()) => NotSent::TimedOut(message),
            Self::Stopped((), stop) => NotSent::Stopped(message, stop),
        }
    }
}

/// Why no message was received.
#[derive(Debug)]
pub(crate) enum NotReceived {
    /// There is none, and nobody is left to send one.
    Closed,
    /// There was none until the time was over.
    TimedOut,
    /// Whoever receives is to stop.
    Stopped(Stop),
}

impl From<GaveUp> for NotReceived {
    fn from(why: GaveUp) -> Self {
        match why {
            GaveUp::TimedOut => Self::TimedOut,
            GaveUp::Stopped(stop) => Self::Stopped(stop),
        }
    }
}
