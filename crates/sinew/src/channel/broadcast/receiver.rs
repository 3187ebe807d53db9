//! The receiving handle of a broadcast channel.

use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::shared::{BroadcastShared, NoValue};
use crate::fiber::Stopped;
use crate::rt::{GaveUp, Limit, impl_debug, impl_unwind_safe};

/// Receives each value that the [`Sender`](super::Sender)s of a channel send after this receiver
/// was made. From [`channel`](super::channel), [`Sender::subscribe`](super::Sender::subscribe) and
/// [`resubscribe`](Self::resubscribe).
pub struct Receiver<T> {
    shared: Arc<BroadcastShared<T>>,
    /// The number of the next value.
    next: u64,
}

impl<T> Receiver<T> {
    pub(super) fn new(shared: Arc<BroadcastShared<T>>) -> Self {
        let next = shared.with(|kept| kept.enter());
        Self { shared, next }
    }

    /// Makes another receiver of the values that are sent from now on. It does not get the values
    /// that this receiver has not received yet.
    #[must_use]
    pub fn resubscribe(&self) -> Self {
        Self::new(self.shared.clone())
    }

    /// Returns the number of values that this receiver has not received yet. Missed values count
    /// until they have been reported.
    #[must_use]
    pub fn len(&self) -> usize {
        let unseen = self.shared.with(|kept| kept.end()) - self.next;
        usize::try_from(unseen).unwrap_or(usize::MAX)
    }

    /// Returns whether this receiver has received all values that were sent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether all senders are gone. There may still be values to receive.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.with(|kept| kept.senders == 0)
    }

    /// Returns whether both handles receive from the same channel.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T: Clone> Receiver<T> {
    /// Receives the next value, and waits until there is one.
    ///
    /// # Errors
    ///
    /// Returns an error if the next value is not stored any more: the error contains the number of
    /// missed values, and the next call continues with the oldest value that is stored. Also
    /// returns an error if there is no value and all senders are gone.
    ///
    /// # Panics
    ///
    /// Panics if the caller would have to wait inside [`no_suspend`](crate::fiber::no_suspend), or
    /// if the value's `Clone` panics.
    pub fn recv(&mut self) -> Result<T, RecvError> {
        self.receive(Limit::NEVER).map_err(|lack| match lack {
            NoValue::Lagged(missed) => RecvError::Lagged(missed),
            NoValue::Closed | NoValue::GaveUp(_) => RecvError::Closed,
        })
    }

    /// Receives the next value if there is one. Never waits.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no value now, or as [`recv`](Self::recv) does.
    ///
    /// # Panics
    ///
    /// Panics if the value's `Clone` panics.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.shared.try_receive(&mut self.next).map(own).map_err(|lack| match lack {
            NoValue::Closed => TryRecvError::Closed,
            NoValue::Lagged(missed) => TryRecvError::Lagged(missed),
            NoValue::GaveUp(_) => TryRecvError::Empty,
        })
    }

    /// Receives the next value like [`recv`](Self::recv), and gives up after `timeout`.
    ///
    /// ```
    /// use sinew::channel::broadcast::{self, RecvTimeoutError};
    /// use std::time::Duration;
    ///
    /// let (sender, mut receiver) = broadcast::channel::<u32>(1);
    /// assert_eq!(receiver.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    /// # drop(sender);
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if no value was sent until the time was over, or as [`recv`](Self::recv)
    /// does.
    ///
    /// # Panics
    ///
    /// Panics as [`recv`](Self::recv) does.
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_to(Limit::lasting(timeout))
    }

    /// Receives the next value like [`recv`](Self::recv), and gives up at `deadline`.
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
        self.receive(limit).map_err(|lack| match lack {
            NoValue::Closed => RecvTimeoutError::Closed,
            NoValue::Lagged(missed) => RecvTimeoutError::Lagged(missed),
            NoValue::GaveUp(_) => RecvTimeoutError::Timeout,
        })
    }

    /// Receives the next value like [`recv`](Self::recv), and gives up when [cancellation or a
    /// deadline](crate::fiber#stopping) stops the caller.
    ///
    /// # Errors
    ///
    /// Returns the outer error if the caller is stopped while it waits, or is already stopped and
    /// there is no value. The inner error is that of [`recv`](Self::recv).
    ///
    /// # Panics
    ///
    /// Panics as [`recv`](Self::recv) does.
    #[track_caller]
    pub fn recv_cancellable(&mut self) -> Result<Result<T, RecvError>, Stopped> {
        match self.receive(Limit::STOP) {
            Ok(value) => Ok(Ok(value)),
            Err(NoValue::Lagged(missed)) => Ok(Err(RecvError::Lagged(missed))),
            Err(NoValue::GaveUp(GaveUp::Stopped(stop))) => Err(Stopped::new(stop, Location::caller())),
            Err(NoValue::Closed | NoValue::GaveUp(GaveUp::TimedOut)) => Ok(Err(RecvError::Closed)),
        }
    }

    fn receive(&mut self, limit: Limit) -> Result<T, NoValue> {
        self.shared.receive(&mut self.next, limit).map(own)
    }
}

/// Returns the value itself if there is no other reference to it, or a clone.
fn own<T: Clone>(value: Arc<T>) -> T {
    Arc::try_unwrap(value).unwrap_or_else(|value| T::clone(&value))
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.drop_receiver(self.next);
    }
}

impl_debug!(Receiver<T>, ..);

// A panic leaves no value half received.
impl_unwind_safe!(Receiver<T>);
