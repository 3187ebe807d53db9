//! The sending handle of a channel.

use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::error::{SendCancellableError, SendError, SendTimeoutError, TrySendError};
use super::reason::NotSent;
use super::{Channel, SendRefused, send_methods, sender_handle};
use crate::fiber::Stopped;
use crate::rt::{Limit, impl_debug, impl_unwind_safe};

/// Sends to the [`Receiver`](super::Receiver)s of a channel. It may be cloned, shared and moved to
/// other fibers and threads.
///
/// ```
/// use sinew::channel;
/// use sinew::fiber;
///
/// let (sender, receiver) = channel::bounded(4);
/// let copy = sender.clone();
/// fiber::spawn(move || copy.send(1).unwrap());
/// sender.send(2).unwrap();
/// drop(sender);
/// assert_eq!(receiver.iter().sum::<u32>(), 3);
/// ```
///
/// It is `Send` and `Sync` only if its messages are `Send`:
///
/// ```compile_fail,E0277
/// fn is_send<T: Send>() {}
/// is_send::<sinew::channel::Sender<std::rc::Rc<u8>>>();
/// ```
///
/// ```compile_fail,E0277
/// fn is_sync<T: Sync>() {}
/// is_sync::<sinew::channel::Sender<std::rc::Rc<u8>>>();
/// ```
pub struct Sender<T> {
    pub(super) channel: Arc<Channel<T>>,
}

impl<T> Sender<T> {
    send_methods! {
        msg
        /// Sends a message, and waits until there is room for it. With a capacity of 0, waits until
        /// a receiver takes it. Box [large](super#large-messages) messages.
        ///
        /// Unlike [`std::sync::mpsc::SyncSender::send`], it suspends a fiber instead of blocking
        /// its worker.
        ///
        /// # Errors
        ///
        /// Returns an error if all receivers are gone, or if the last one is dropped while the
        /// caller waits. The error contains the message.
        ///
        /// # Panics
        ///
        /// Panics if the caller would have to wait inside [`no_suspend`](crate::fiber::no_suspend).
        send
        /// Sends a message if there is room for it. With a capacity of 0, sends it if a receiver
        /// waits for it. Never waits.
        ///
        /// A slot that is reserved for a [`SelectedOperation`](super::SelectedOperation) which is
        /// not completed counts as filled. So a channel may be full and have no message to receive.
        /// The message of that operation goes behind those that are sent in the meantime.
        ///
        /// ```
        /// use sinew::channel::{self, TrySendError};
        ///
        /// let (sender, receiver) = channel::bounded(1);
        /// assert_eq!(sender.try_send(1), Ok(()));
        /// assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        /// drop(receiver);
        /// assert_eq!(sender.try_send(3), Err(TrySendError::Disconnected(3)));
        /// ```
        ///
        /// # Errors
        ///
        /// Returns an error if there is no room, or if all receivers are gone. The error contains
        /// the message.
        try_send
        /// Sends a message like [`send`](Self::send), and gives up after `timeout`.
        ///
        /// ```
        /// use sinew::channel::{self, SendTimeoutError};
        /// use std::time::Duration;
        ///
        /// let (sender, _receiver) = channel::bounded(1);
        /// let limit = Duration::from_millis(1);
        /// assert_eq!(sender.send_timeout(1, limit), Ok(()));
        /// assert_eq!(sender.send_timeout(2, limit), Err(SendTimeoutError::Timeout(2)));
        /// ```
        ///
        /// # Errors
        ///
        /// Returns an error if there was no room until the time was over, or if all receivers are
        /// gone. The error contains the message.
        ///
        /// # Panics
        ///
        /// Panics as [`send`](Self::send) does.
        send_timeout
        /// Sends a message like [`send`](Self::send), and gives up when [cancellation or a
        /// deadline](crate::fiber#stopping) stops the caller.
        ///
        /// # Errors
        ///
        /// Returns an error if the caller is stopped while it waits for room, if it is already
        /// stopped and there is no room, or if all receivers are gone. The error contains the
        /// message.
        ///
        /// # Panics
        ///
        /// Panics as [`send`](Self::send) does.
        send_cancellable
    }

    /// Sends a message like [`send`](Self::send), and gives up at `deadline`.
    ///
    /// # Errors
    ///
    /// Returns an error as [`send_timeout`](Self::send_timeout) does.
    ///
    /// # Panics
    ///
    /// Panics as [`send`](Self::send) does.
    pub fn send_deadline(&self, msg: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_to(msg, Limit::until(Some(deadline)))
    }

    /// Returns whether no message is stored now. Always true with a capacity of 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether there is no room now. A [reserved](super::SelectedOperation) slot counts as
    /// filled. Always true with a capacity of 0.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.channel.is_full()
    }

    /// Returns the number of messages that are stored now. [Reserved](super::SelectedOperation)
    /// slots do not count.
    #[must_use]
    pub fn len(&self) -> usize {
        self.channel.len()
    }

    /// Returns the number of messages that can be stored, or `None` if there is no limit.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.channel.capacity()
    }

    /// Returns whether both handles send to the same channel.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.channel, &other.channel)
    }
}

sender_handle!(Sender);
