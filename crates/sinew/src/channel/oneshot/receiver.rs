//! The receiving handle of a oneshot channel.

use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::NotReceived;
use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::shared::OneshotShared;
use crate::fiber::Stopped;
use crate::rt::{Limit, drop_each, impl_debug, impl_unwind_safe};

/// Receives the value of the [`Sender`](super::Sender). Dropping it closes the channel, and drops a
/// value that was sent.
pub struct Receiver<T> {
    /// `None` after [`recv`](Self::recv).
    shared: Option<Arc<OneshotShared<T>>>,
    /// Whether a call has returned the value, or reported that there will be none.
    is_terminated: bool,
}

impl<T> Receiver<T> {
    pub(super) fn new(shared: Arc<OneshotShared<T>>) -> Self {
        Self { shared: Some(shared), is_terminated: false }
    }

    fn shared(&self) -> &OneshotShared<T> {
        self.shared.as_ref().expect("it is used up by `recv`")
    }

    /// Receives the value, and waits until it is sent.
    ///
    /// # Errors
    ///
    /// Returns an error if the sender is gone and has sent no value, or if the value was already
    /// received.
    ///
    /// # Panics
    ///
    /// Panics if the caller would have to wait inside [`no_suspend`](crate::fiber::no_suspend).
    pub fn recv(mut self) -> Result<T, RecvError> {
        let received = self.shared().receive(Limit::NEVER);
        // The drop of the handle must not close the channel.
        self.shared = None;
        received.map_err(|_| RecvError)
    }

    /// Receives the value if it was sent. Never waits.
    ///
    /// ```
    /// use sinew::channel::oneshot::{self, TryRecvError};
    ///
    /// let (sender, mut receiver) = oneshot::channel();
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    /// sender.send(5).unwrap();
    /// assert_eq!(receiver.try_recv(), Ok(5));
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the value was not sent yet, or if there will be none.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let received = self.shared().try_receive();
        self.note(received).map_err(|error| match error {
            NotReceived::Closed => TryRecvError::Closed,
            NotReceived::TimedOut | NotReceived::Stopped(_) => TryRecvError::Empty,
        })
    }

    /// Receives the value like [`recv`](Self::recv), and gives up after `timeout`. The receiver can
    /// be used again after that.
    ///
    /// ```
    /// use sinew::channel::oneshot::{self, RecvTimeoutError};
    /// use std::time::Duration;
    ///
    /// let (sender, mut receiver) = oneshot::channel();
    /// assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    /// sender.send(5).unwrap();
    /// assert_eq!(receiver.recv_timeout(Duration::MAX), Ok(5));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the value was not sent until the time was over, or if there will be
    /// none.
    ///
    /// # Panics
    ///
    /// Panics as [`recv`](Self::recv) does.
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_to(Limit::lasting(timeout))
    }

    /// Receives the value like [`recv`](Self::recv), and gives up at `deadline`. The receiver can
    /// be used again after that.
    ///
    /// # Errors
    ///
    /// Returns an error as [`recv_timeout`](Self::recv_timeout) does.
    ///
    /// # Panics
    ///
    /// Panics as [`recv`](Self::recv) does.
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_to(Limit::until(Some(deadline)))
    }

    fn recv_to(&mut self, limit: Limit) -> Result<T, RecvTimeoutError> {
        let received = self.shared().receive(limit);
        self.note(received).map_err(|error| match error {
            NotReceived::Closed => RecvTimeoutError::Closed,
            NotReceived::TimedOut | NotReceived::Stopped(_) => RecvTimeoutError::Timeout,
        })
    }

    /// Receives the value like [`recv`](Self::recv), and gives up when [cancellation or a
    /// deadline](crate::fiber#stopping) stops the caller. The receiver can be used again after
    /// that.
    ///
    /// # Errors
    ///
    /// Returns the outer error if the caller is stopped while it waits, or is already stopped and
    /// the value was not sent. The inner error is that of [`recv`](Self::recv).
    ///
    /// # Panics
    ///
    /// Panics as [`recv`](Self::recv) does.
    #[track_caller]
    pub fn recv_cancellable(&mut self) -> Result<Result<T, RecvError>, Stopped> {
        let received = self.shared().receive(Limit::STOP);
        match self.note(received) {
            Ok(value) => Ok(Ok(value)),
            Err(NotReceived::Stopped(stop)) => Err(Stopped::new(stop, Location::caller())),
            Err(NotReceived::Closed | NotReceived::TimedOut) => Ok(Err(RecvError)),
        }
    }

    /// Records that a call has returned the value, or has reported that there will be none.
    fn note(&mut self, received: Result<T, NotReceived>) -> Result<T, NotReceived> {
        self.is_terminated |= matches!(received, Ok(_) | Err(NotReceived::Closed));
        received
    }

    /// Returns whether there is no value to receive: none was sent, or it was already received.
    /// Never waits.
    ///
    /// ```
    /// use sinew::channel::oneshot;
    ///
    /// let (sender, mut receiver) = oneshot::channel();
    /// assert!(receiver.is_empty());
    /// sender.send(5).unwrap();
    /// assert!(!receiver.is_empty());
    /// assert_eq!(receiver.try_recv(), Ok(5));
    /// assert!(receiver.is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shared().is_empty()
    }

    /// Returns whether it is useless to receive again: a call has returned the value, or has
    /// reported that there will be none.
    ///
    /// Dropping the sender does not terminate the receiver. The call that reports this does.
    ///
    /// ```
    /// use sinew::channel::oneshot::{self, TryRecvError};
    ///
    /// let (sender, mut receiver) = oneshot::channel::<u32>();
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    /// drop(sender);
    /// assert!(!receiver.is_terminated());
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    /// assert!(receiver.is_terminated());
    /// ```
    #[must_use]
    pub fn is_terminated(&self) -> bool {
        self.is_terminated
    }

    /// Closes the channel: a later `send` fails and returns the value. A value that was sent before
    /// can still be received.
    ///
    /// ```
    /// use sinew::channel::oneshot;
    ///
    /// let (sender, mut receiver) = oneshot::channel();
    /// receiver.close();
    /// assert!(sender.is_closed());
    /// assert_eq!(sender.send(5), Err(5));
    /// assert!(receiver.try_recv().is_err());
    /// ```
    pub fn close(&mut self) {
        self.shared().close();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            shared.close();
            drop_each(|| shared.try_receive().ok());
        }
    }
}

impl_debug!(Receiver<T>, ..);

// A panic leaves no value half received.
impl_unwind_safe!(Receiver<T>);
