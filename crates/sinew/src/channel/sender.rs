//! The handle to send by.

use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::error::{SendCancellableError, SendError, SendTimeoutError, TrySendError};
use super::reason::NotSent;
use super::{Channel, Refused};
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
    pub(super) fn new(channel: Arc<Channel<T>>) -> Self {
        Self { channel }
    }

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
    #[inline]
    pub fn send(&self, msg: T) -> Result<(), SendError<T>> {
        self.channel.send(msg, Limit::NEVER).map_err(|error| SendError(error.into_inner()))
    }

    /// Sends a message, if there is room for it. With a capacity of 0, if somebody waits for it.
    ///
    /// A place that is reserved by a [`SelectedOperation`](super::SelectedOperation) which is yet to be done is no room. The channel may be full by
    /// that, and have no message to receive. The message of that one goes behind those that are sent meanwhile.
    ///
    /// # Errors
    ///
    /// If there is none, or all receivers are gone. The message is in the error.
    #[inline]
    pub fn try_send(&self, msg: T) -> Result<(), TrySendError<T>> {
        self.channel.try_send(msg).map_err(|refused| match refused {
            Refused::Full(message) => TrySendError::Full(message),
            Refused::Closed(message) => TrySendError::Disconnected(message),
        })
    }

    /// [`send`](Self::send), for at most so long.
    ///
    /// # Errors
    ///
    /// If there was no room for all that time, or all receivers are gone. The message is in the error.
    ///
    /// # Panics
    ///
    /// As [`send`](Self::send).
    pub fn send_timeout(&self, msg: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_to(msg, Limit::lasting(timeout))
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

    fn send_to(&self, message: T, limit: Limit) -> Result<(), SendTimeoutError<T>> {
        self.channel.send(message, limit).map_err(|error| match error {
            NotSent::Closed(message) => SendTimeoutError::Disconnected(message),
            other => SendTimeoutError::Timeout(other.into_inner()),
        })
    }

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
    #[track_caller]
    pub fn send_cancellable(&self, msg: T) -> Result<(), SendCancellableError<T>> {
        let at = Location::caller();
        self.channel.send(msg, Limit::STOP).map_err(|error| match error {
            NotSent::Stopped(message, stop) => SendCancellableError::Stopped(message, Stopped::new(stop, at)),
            other => SendCancellableError::Disconnected(other.into_inner()),
        })
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

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.channel.add_sender();
        Self { channel: self.channel.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.channel.drop_sender();
    }
}

impl_debug!(Sender<T>, ..);

// A panic leaves no message half sent.
impl_unwind_safe!(Sender<T>);
