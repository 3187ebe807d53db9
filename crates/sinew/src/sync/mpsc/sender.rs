//! The handles to send by.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::mpsc::{SendError, TrySendError};
use std::time::Duration;

use super::error::SendTimeoutError;
use crate::channel::{Channel, NotSent, Refused, SendCancellableError};
use crate::fiber::Stopped;
use crate::rt::Limit;

/// Sends to the [`Receiver`](super::Receiver) of a [`channel`](super::channel), without ever waiting. As [`std::sync::mpsc::Sender`].
pub struct Sender<T> {
    channel: Arc<Channel<T>>,
}

impl<T> Sender<T> {
    pub(super) fn new(channel: Arc<Channel<T>>) -> Self {
        Self { channel }
    }

    /// Sends a message. Never waits for the receiver; after a number of calls in a row, it [lets
    /// other fibers run](crate::fiber#turns).
    ///
    /// # Errors
    ///
    /// If the receiver is gone. The message is in the error.
    #[inline]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        // There is always room.
        self.channel.send(t, Limit::NEVER).map_err(|error| SendError(error.into_inner()))
    }
}

/// Sends to the [`Receiver`](super::Receiver) of a [`sync_channel`](super::sync_channel). As [`std::sync::mpsc::SyncSender`].
pub struct SyncSender<T> {
    channel: Arc<Channel<T>>,
}

impl<T> SyncSender<T> {
    pub(super) fn new(channel: Arc<Channel<T>>) -> Self {
        Self { channel }
    }

    /// Sends a message, once there is room for it.
    ///
    /// # Errors
    ///
    /// If the receiver is gone, or goes. The message is in the error.
    ///
    /// # Panics
    ///
    /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
    #[inline]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        self.channel.send(t, Limit::NEVER).map_err(|error| SendError(error.into_inner()))
    }

    /// Sends a message, if there is room for it.
    ///
    /// # Errors
    ///
    /// If there is none, or the receiver is gone. The message is in the error.
    #[inline]
    pub fn try_send(&self, t: T) -> Result<(), TrySendError<T>> {
        self.channel.try_send(t).map_err(|refused| match refused {
            Refused::Full(message) => TrySendError::Full(message),
            Refused::Closed(message) => TrySendError::Disconnected(message),
        })
    }

    /// [`send`](Self::send), for at most so long.
    ///
    /// ```
    /// use sinew::sync::mpsc::{SendTimeoutError, sync_channel};
    /// use std::time::Duration;
    ///
    /// let (sender, receiver) = sync_channel(0);
    /// let late = sender.send_timeout(5, Duration::from_millis(1));
    /// assert_eq!(late, Err(SendTimeoutError::Timeout(5)));
    /// # drop(receiver);
    /// ```
    ///
    /// # Errors
    ///
    /// If there was no room for all that time, or the receiver is gone. The message is in the error.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send).
    pub fn send_timeout(&self, t: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        let limit = Limit::lasting(timeout);
        self.channel.send(t, limit).map_err(|error| match error {
            NotSent::Closed(message) => SendTimeoutError::Disconnected(message),
            other => SendTimeoutError::Timeout(other.into_inner()),
        })
    }

    /// [`send`](Self::send), where [cancellation and deadlines](crate::fiber#stopping) count.
    ///
    /// # Errors
    ///
    /// If the caller is to stop before there is room, or was to stop already and there is none, or the receiver is gone. The message is in the error.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send).
    #[track_caller]
    pub fn send_cancellable(&self, t: T) -> Result<(), SendCancellableError<T>> {
        let at = Location::caller();
        self.channel.send(t, Limit::STOP).map_err(|error| match error {
            NotSent::Stopped(message, stop) => SendCancellableError::Stopped(message, Stopped::new(stop, at)),
            other => SendCancellableError::Disconnected(other.into_inner()),
        })
    }
}

/// What both kinds have in common.
macro_rules! handle {
    ($handle:ident, $name:literal) => {
        impl<T> Clone for $handle<T> {
            fn clone(&self) -> Self {
                self.channel.add_sender();
                Self { channel: self.channel.clone() }
            }
        }

        impl<T> Drop for $handle<T> {
            fn drop(&mut self) {
                self.channel.drop_sender();
            }
        }

        impl<T> fmt::Debug for $handle<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct($name).finish_non_exhaustive()
            }
        }

        // A panic leaves no message half sent.
        impl<T> UnwindSafe for $handle<T> {}
        impl<T> RefUnwindSafe for $handle<T> {}
    };
}

handle!(Sender, "Sender");
handle!(SyncSender, "SyncSender");
