//! The handle to receive by.

use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;
use std::sync::mpsc::{RecvError, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use super::iter::{Iter, TryIter};
use crate::channel::{Channel, NotReceived};
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

    /// A message, if there is one now.
    ///
    /// # Errors
    ///
    /// If there is none, or there is none and nobody is left to send one.
    #[inline]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.channel.try_receive().map_err(|error| match error {
            NotReceived::Closed => TryRecvError::Disconnected,
            NotReceived::TimedOut | NotReceived::Stopped(_) => TryRecvError::Empty,
        })
    }

    /// Waits for a message.
    ///
    /// # Errors
    ///
    /// If there is none, and nobody is left to send one.
    ///
    /// # Panics
    ///
    /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
    #[inline]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.channel.receive(Limit::NEVER).map_err(|_| RecvError)
    }

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
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_to(Limit::lasting(timeout))
    }

    /// [`recv`](Self::recv), until this moment at the latest.
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Panics
    ///
    /// As [`recv`](Self::recv).
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_to(Limit::until(Some(deadline)))
    }

    fn recv_to(&self, limit: Limit) -> Result<T, RecvTimeoutError> {
        self.channel.receive(limit).map_err(|error| match error {
            NotReceived::Closed => RecvTimeoutError::Disconnected,
            NotReceived::TimedOut | NotReceived::Stopped(_) => RecvTimeoutError::Timeout,
        })
    }

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
    #[track_caller]
    pub fn recv_cancellable(&self) -> Result<Result<T, RecvError>, Stopped> {
        match self.channel.receive(Limit::STOP) {
            Ok(message) => Ok(Ok(message)),
            Err(NotReceived::Stopped(stop)) => Err(Stopped::new(stop, Location::caller())),
            Err(NotReceived::Closed | NotReceived::TimedOut) => Ok(Err(RecvError)),
        }
    }

    /// All messages, until nobody is left to send one.
    ///
    /// # Panics
    ///
    /// The iterator does, as [`recv`](Self::recv).
    pub fn iter(&self) -> Iter<'_, T> {
        Iter::new(self)
    }

    /// All messages that are there now.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter::new(self)
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
