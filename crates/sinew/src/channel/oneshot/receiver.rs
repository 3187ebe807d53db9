//! The handle to receive by.

use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::NotReceived;
use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::shared::OneshotShared;
use crate::fiber::Stopped;
use crate::rt::{Limit, drop_each, impl_debug, impl_unwind_safe};

/// Receives what the [`Sender`](super::Sender) sends. Dropping it closes the channel; what was sent already is dropped with it.
pub struct Receiver<T> {
    /// Until the value is received by [`recv`](Self::recv).
    shared: Option<Arc<OneshotShared<T>>>,
    /// A call has returned the value, or that none will come.
    is_terminated: bool,
}

impl<T> Receiver<T> {
    pub(super) fn new(shared: Arc<OneshotShared<T>>) -> Self {
        Self { shared: Some(shared), is_terminated: false }
    }

    fn shared(&self) -> &OneshotShared<T> {
        self.shared.as_ref().expect("it is used up by `recv`")
    }

    /// Waits for the value.
    ///
    /// # Errors
    ///
    /// If none was sent, and the sender is gone; or it was received already.
    ///
    /// # Panics
    ///
    /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
    pub fn recv(mut self) -> Result<T, RecvError> {
        let received = self.shared().receive(Limit::NEVER);
        // There is nothing left to be closed.
        self.shared = None;
        received.map_err(|_| RecvError)
    }

    /// The value, if it is there.
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
    /// If it is not there, or will not come.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let received = self.shared().try_receive();
        self.note(received).map_err(|error| match error {
            NotReceived::Closed => TryRecvError::Closed,
            NotReceived::TimedOut | NotReceived::Stopped(_) => TryRecvError::Empty,
        })
    }

    /// [`recv`](Self::recv), for at most so long. The receiver may be asked again.
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
    /// If it did not come in that time, or will not come.
    ///
    /// # Panics
    ///
    /// As [`recv`](Self::recv).
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_to(Limit::lasting(timeout))
    }

    /// [`recv`](Self::recv), until this moment at the latest. The receiver may be asked again.
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Panics
    ///
    /// As [`recv`](Self::recv).
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

    /// [`recv`](Self::recv), where [cancellation and deadlines](crate::fiber#stopping) count. The receiver may be asked again.
    ///
    /// # Errors
    ///
    /// If the caller is to stop before the value is there, or was to stop already and it is not. Inside, as [`recv`](Self::recv).
    ///
    /// # Panics
    ///
    /// As [`recv`](Self::recv).
    #[track_caller]
    pub fn recv_cancellable(&mut self) -> Result<Result<T, RecvError>, Stopped> {
        let received = self.shared().receive(Limit::STOP);
        match self.note(received) {
            Ok(value) => Ok(Ok(value)),
            Err(NotReceived::Stopped(stop)) => Err(Stopped::new(stop, Location::caller())),
            Err(NotReceived::Closed | NotReceived::TimedOut) => Ok(Err(RecvError)),
        }
    }

    /// Remembers that a call has returned what there is to receive.
    fn note(&mut self, received: Result<T, NotReceived>) -> Result<T, NotReceived> {
        self.is_terminated |= matches!(received, Ok(_) | Err(NotReceived::Closed));
        received
    }

    /// Returns whether no value waits to be received: none was sent, or it was received. Never
    /// waits.
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

    /// Returns whether there is no reason to receive again: a call has returned the value, or that
    /// none will come.
    ///
    /// A sender that is gone does not terminate the receiver; the call that reports it does.
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

    /// Closes the channel: a later `send` fails and returns the value. One that was sent before can
    /// still be received.
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
