//! Reasons why a message was not sent or received. The public methods convert them into errors of
//! their own.

use crate::rt::{GaveUp, Stop};

/// Why a message was not sent. Contains the message.
#[derive(Debug)]
pub(crate) enum NotSent<T> {
    /// All receivers are gone.
    Closed(T),
    /// There was no room until the time was over.
    TimedOut(T),
    /// The sender was stopped while it waited.
    Stopped(T, Stop),
}

impl<T> NotSent<T> {
    /// Returns the message.
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
    /// Adds the message to the reason.
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
    /// There is no message, and all senders are gone.
    Closed,
    /// No message arrived until the time was over.
    TimedOut,
    /// The receiver was stopped while it waited.
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
