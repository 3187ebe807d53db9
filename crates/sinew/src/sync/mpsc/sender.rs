//! The handles to send by.

use std::panic::Location;
use std::sync::Arc;
use std::sync::mpsc::{SendError, TrySendError};
use std::time::Duration;

use super::error::SendTimeoutError;
use crate::channel::{Channel, NotSent, SendCancellableError, SendRefused, send_methods, sender_handle};
use crate::fiber::Stopped;
use crate::rt::{Limit, impl_debug, impl_unwind_safe};

/// Sends to the [`Receiver`](super::Receiver) of a [`channel`](super::channel), without ever waiting. As [`std::sync::mpsc::Sender`].
pub struct Sender<T> {
    channel: Arc<Channel<T>>,
}

impl<T> Sender<T> {
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
    send_methods! {
        t
        /// Sends a message, once there is room for it.
        ///
        /// # Errors
        ///
        /// If the receiver is gone, or goes. The message is in the error.
        ///
        /// # Panics
        ///
        /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
        send
        /// Sends a message, if there is room for it.
        ///
        /// # Errors
        ///
        /// If there is none, or the receiver is gone. The message is in the error.
        try_send
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
        send_timeout
        /// [`send`](Self::send), where [cancellation and deadlines](crate::fiber#stopping) count.
        ///
        /// # Errors
        ///
        /// If the caller is to stop before there is room, or was to stop already and there is none, or the receiver is gone. The message is in the error.
        ///
        /// # Panics
        ///
        /// As [`send`](Self::send).
        send_cancellable
    }
}

sender_handle!(Sender);
sender_handle!(SyncSender);
