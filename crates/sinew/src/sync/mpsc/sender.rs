//! The sending halves of channels.

use std::panic::Location;
use std::sync::Arc;
use std::sync::mpsc::{SendError, TrySendError};
use std::time::Duration;

use super::error::SendTimeoutError;
use crate::channel::{Channel, NotSent, SendCancellableError, SendRefused, send_methods, sender_handle};
use crate::fiber::Stopped;
use crate::rt::{Limit, impl_debug, impl_unwind_safe};

/// The sending half of a [`channel`](super::channel), which never waits for room. As
/// [`std::sync::mpsc::Sender`].
pub struct Sender<T> {
    channel: Arc<Channel<T>>,
}

impl<T> Sender<T> {
    /// Sends a message. Never waits for the receiver; after a number of calls in a row, it [lets
    /// other fibers run](crate::fiber#turns).
    ///
    /// # Errors
    ///
    /// Returns an error with the message if the receiver was dropped.
    #[inline]
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        // An unbounded channel always has room.
        self.channel.send(t, Limit::NEVER).map_err(|error| SendError(error.into_inner()))
    }
}

/// The sending half of a [`sync_channel`](super::sync_channel). As [`std::sync::mpsc::SyncSender`].
pub struct SyncSender<T> {
    channel: Arc<Channel<T>>,
}

impl<T> SyncSender<T> {
    send_methods! {
        t
        /// Waits until there is room, and sends a message.
        ///
        /// # Errors
        ///
        /// Returns an error with the message if the receiver was dropped, before the call or during
        /// the wait.
        ///
        /// # Panics
        ///
        /// Panics if the caller would have to wait and is inside
        /// [`no_suspend`](crate::fiber::no_suspend).
        send
        /// Sends a message if there is room for it. Never waits.
        ///
        /// ```
        /// use sinew::sync::mpsc::{TrySendError, sync_channel};
        ///
        /// let (sender, receiver) = sync_channel(1);
        /// sender.try_send(1).unwrap();
        /// assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        /// drop(receiver);
        /// assert_eq!(sender.try_send(3), Err(TrySendError::Disconnected(3)));
        /// ```
        ///
        /// # Errors
        ///
        /// Returns an error with the message if there is no room, or the receiver was dropped.
        try_send
        /// Sends a message as [`send`](Self::send) does, but waits at most for `timeout`.
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
        /// Returns an error with the message if there was no room for all that time, or the
        /// receiver was dropped.
        ///
        /// # Panics
        ///
        /// Panics as [`send`](Self::send) does.
        send_timeout
        /// Sends a message as [`send`](Self::send) does, but [cancellation and
        /// deadlines](crate::fiber#stopping) end the wait.
        ///
        /// # Errors
        ///
        /// Returns an error with the message if the caller is stopped before there is room, or was
        /// stopped before the call and there is no room, or the receiver was dropped.
        ///
        /// # Panics
        ///
        /// Panics as [`send`](Self::send) does.
        send_cancellable
    }
}

sender_handle!(Sender);
sender_handle!(SyncSender);
