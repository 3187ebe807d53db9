//! The handle to receive by.

use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::shared::{BroadcastShared, NoValue};
use crate::fiber::Stopped;
use crate::rt::{GaveUp, Limit, impl_debug, impl_unwind_safe};

/// Receives each value that is sent by the [`Sender`](super::Sender)s of a channel after it came. From
/// [`channel`](super::channel), [`Sender::subscribe`](super::Sender::subscribe) and [`resubscribe`](Self::resubscribe).
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

    /// Another one, for what is sent to the same channel from now on. What this one has not received yet, the other one does not.
    #[must_use]
    pub fn resubscribe(&self) -> Self {
        Self::new(self.shared.clone())
    }

    /// How many values this one has not received yet. Those that it has missed count, until it has heard of them.
    #[must_use]
    pub fn len(&self) -> usize {
        let unseen = self.shared.with(|kept| kept.end()) - self.next;
        usize::try_from(unseen).unwrap_or(usize::MAX)
    }

    /// Whether it has received all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether nobody is left to send. There may be values still.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.with(|kept| kept.senders == 0)
    }

    /// Whether both listen to the same channel.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T: Clone> Receiver<T> {
    /// Waits for the next value.
    ///
    /// # Errors
    ///
    /// If it is not kept any more: the error says how many were missed, and the next call goes on with the oldest that is kept. Or if there is none, and
    /// nobody is left to send one.
    ///
    /// # Panics
    ///
    /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend). If a value's `Clone` does.
    pub fn recv(&mut self) -> Result<T, RecvError> {
        self.receive(Limit::NEVER).map_err(|lack| match lack {
            NoValue::Lagged(missed) => RecvError::Lagged(missed),
            NoValue::Closed | NoValue::GaveUp(_) => RecvError::Closed,
        })
    }

    /// The next value, if there is one.
    ///
    /// # Errors
    ///
    /// If there is none now; or as [`recv`](Self::recv).
    ///
    /// # Panics
    ///
    /// If a value's `Clone` does.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.shared.try_receive(&mut self.next).map(own).map_err(|lack| match lack {
            NoValue::Closed => TryRecvError::Closed,
            NoValue::Lagged(missed) => TryRecvError::Lagged(missed),
            NoValue::GaveUp(_) => TryRecvError::Empty,
        })
    }

    /// [`recv`](Self::recv), for at most so long.
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
    /// If none came in that time; or as [`recv`](Self::recv).
    ///
    /// # Panics
    ///
    /// As [`recv`](Self::recv).
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
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

    /// [`recv`](Self::recv), where [cancellation and deadlines](crate::fiber#stopping) count.
    ///
    /// # Errors
    ///
    /// If the caller is to stop before there is a value, or was to stop already and there is none. Inside, as [`recv`](Self::recv).
    ///
    /// # Panics
    ///
    /// As [`recv`](Self::recv).
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

/// The value itself, if nobody else has it, or a clone.
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
