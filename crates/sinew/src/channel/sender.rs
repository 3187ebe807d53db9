//! The handle to send by.

use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::error::{SendCancellableError, SendError, SendTimeoutError, TrySendError};
use super::reason::NotSent;
use super::{Channel, SendRefused, send_methods, sender_handle};
use crate::fiber::Stopped;
use crate::rt::{Limit, impl_debug, impl_unwind_safe};

/// Sends to the [`Receiver`](super::Receiver)s of a channel. There may be many: it is cloned, sent elsewhere and shared.
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
/// It goes to other threads only if its messages may:
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
        /// Sends a message, once there is room for it. With a capacity of 0, once somebody receives it. Those that are [large](super#large-messages)
        /// are better sent in a box.
        ///
        /// # Errors
        ///
        /// If all receivers are gone, or go. The message is in the error.
        ///
        /// # Panics
        ///
        /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
        send
        /// Sends a message, if there is room for it. With a capacity of 0, if somebody waits for it.
        ///
        /// A place that is reserved by a [`SelectedOperation`](super::SelectedOperation) which is yet to be done is no room. The channel may be full by
        /// that, and have no message to receive. The message of that one goes behind those that are sent meanwhile.
        ///
        /// # Errors
        ///
        /// If there is none, or all receivers are gone. The message is in the error.
        try_send
        /// [`send`](Self::send), for at most so long.
        ///
        /// # Errors
        ///
        /// If there was no room for all that time, or all receivers are gone. The message is in the error.
        ///
        /// # Panics
        ///
        /// As [`send`](Self::send).
        send_timeout
        /// [`send`](Self::send), where [cancellation and deadlines](crate::fiber#stopping) count.
        ///
        /// # Errors
        ///
        /// If the caller is to stop before there is room, or was to stop already and there is none, or all receivers are gone. The message is in
        /// the error.
        ///
        /// # Panics
        ///
        /// As [`send`](Self::send).
        send_cancellable
    }

    /// [`send`](Self::send), until this moment at the latest.
    ///
    /// # Errors
    ///
    /// As [`send_timeout`](Self::send_timeout).
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send).
    pub fn send_deadline(&self, msg: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_to(msg, Limit::until(Some(deadline)))
    }

    /// Whether it keeps no message now. Always, with a capacity of 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there is no room now: a place that is [reserved](super::SelectedOperation) is none. Always, with a capacity of 0.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.channel.is_full()
    }

    /// How many messages it keeps now. A place that is [reserved](super::SelectedOperation) does not count.
    #[must_use]
    pub fn len(&self) -> usize {
        self.channel.len()
    }

    /// How many it can keep; none, if there is no limit.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.channel.capacity()
    }

    /// Whether the other one sends to the same channel.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.channel, &other.channel)
    }
}

sender_handle!(Sender);
