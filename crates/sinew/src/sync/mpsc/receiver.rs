//! The handle to receive by.

use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;
use std::sync::mpsc::{RecvError, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use super::iter::{Iter, TryIter};
use crate::channel::{Channel, NotReceived, receive_methods};
use crate::fiber::Stopped;
use crate::rt::{Limit, impl_debug, impl_unwind_safe};

/// Receives what is sent by the [`Sender`](super::Sender)s or [`SyncSender`](super::SyncSender)s of a channel. As
/// [`std::sync::mpsc::Receiver`]: it may be sent elsewhere, but not shared.
///
/// ```compile_fail,E0277
/// use sinew::sync::mpsc;
///
/// fn is_shared<T: Sync>(_: T) {}
/// is_shared(mpsc::channel::<u32>().1);
/// ```
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
    /// There is one of it, and it is with one at a time.
    not_sync: PhantomData<std::cell::Cell<()>>,
}

impl<T> Receiver<T> {
    pub(super) fn new(channel: Arc<Channel<T>>) -> Self {
        Self { channel, not_sync: PhantomData }
    }

    receive_methods! {
        /// Waits for a message.
        ///
        /// # Errors
        ///
        /// If there is none, and nobody is left to send one.
        ///
        /// # Panics
        ///
        /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
        recv
        /// A message, if there is one now.
        ///
        /// # Errors
        ///
        /// If there is none, or there is none and nobody is left to send one.
        try_recv
        /// [`recv`](Self::recv), for at most so long.
        ///
        /// ```
        /// use sinew::sync::mpsc::{RecvTimeoutError, channel};
        /// use std::time::Duration;
        ///
        /// let (sender, receiver) = channel::<u32>();
        /// assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
        /// # drop(sender);
        /// ```
        ///
        /// # Errors
        ///
        /// If none came in that time, or there is none and nobody is left to send one.
        ///
        /// # Panics
        ///
        /// As [`recv`](Self::recv).
        recv_timeout
        /// [`recv`](Self::recv), until this moment at the latest.
        ///
        /// # Errors
        ///
        /// As [`recv_timeout`](Self::recv_timeout).
        ///
        /// # Panics
        ///
        /// As [`recv`](Self::recv).
        recv_deadline
        /// [`recv`](Self::recv), where [cancellation and deadlines](crate::fiber#stopping) count.
        ///
        /// ```
        /// use sinew::sync::mpsc::channel;
        /// use sinew::time;
        /// use std::time::Duration;
        ///
        /// let (sender, receiver) = channel::<u32>();
        /// let stopped = time::timeout(Duration::from_millis(1), || receiver.recv_cancellable());
        /// assert!(stopped.unwrap_err().is_timed_out());
        /// # drop(sender);
        /// ```
        ///
        /// # Errors
        ///
        /// If the caller is to stop before there is one, or was to stop already and there is none. Inside, as [`recv`](Self::recv).
        ///
        /// # Panics
        ///
        /// As [`recv`](Self::recv).
        recv_cancellable
        /// All messages, until nobody is left to send one.
        ///
        /// # Panics
        ///
        /// The iterator does, as [`recv`](Self::recv).
        iter
        /// All messages that are there now.
        try_iter
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.channel.drop_receiver();
    }
}

impl_debug!(Receiver<T>, ..);

// A panic leaves no message half received.
impl_unwind_safe!(Receiver<T>);
