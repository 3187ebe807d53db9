//! The handle to send by.

use std::fmt;
use std::panic::{Location, RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::shared::OneshotShared;
use crate::fiber::Stopped;
use crate::rt::{GaveUp, Limit};

/// Sends one value to the [`Receiver`](super::Receiver). Dropping it says that none will come.
pub struct Sender<T> {
    /// Until the value is sent.
    shared: Option<Arc<OneshotShared<T>>>,
}

impl<T> Sender<T> {
    pub(super) fn new(shared: Arc<OneshotShared<T>>) -> Self {
        Self { shared: Some(shared) }
    }

    fn shared(&self) -> &OneshotShared<T> {
        self.shared.as_ref().expect("it is used up by `send`")
    }

    /// Sends the value. Never waits.
    ///
    /// That it was sent does not mean that it is received: the receiver may be dropped with it.
    ///
    /// ```
    /// use sinew::channel::oneshot;
    ///
    /// let (sender, receiver) = oneshot::channel();
    /// drop(receiver);
    /// assert_eq!(sender.send("nobody asks any more"), Err("nobody asks any more"));
    /// ```
    ///
    /// # Errors
    ///
    /// If the receiver is gone, or was closed. The value comes back.
    pub fn send(mut self, value: T) -> Result<(), T> {
        let sent = self.shared().send(value);
        // There is nothing left to be closed.
        self.shared = None;
        sent
    }

    /// Whether the receiver is gone, or was closed, so that nobody wants a value.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared().is_closed()
    }

    /// Waits until the receiver is gone, or is closed: so that nobody works for an answer that nobody wants.
    ///
    /// ```
    /// use sinew::channel::oneshot;
    /// use sinew::fiber;
    ///
    /// let (sender, receiver) = oneshot::channel::<u32>();
    /// let watches = fiber::spawn(move || sender.closed());
    /// drop(receiver);
    /// watches.join().unwrap();
    /// ```
    ///
    /// # Panics
    ///
    /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
    pub fn closed(&self) {
        let _ = self.shared().wait_for_close(Limit::NEVER);
    }

    /// [`closed`](Self::closed), for at most so long. Whether that was enough.
    ///
    /// # Panics
    ///
    /// As [`closed`](Self::closed).
    #[must_use = "it may not be closed"]
    pub fn closed_timeout(&self, timeout: Duration) -> bool {
        self.shared().wait_for_close(Limit::lasting(timeout)).is_ok()
    }

    /// [`closed`](Self::closed) with a deadline. Returns false if that was reached before.
    ///
    /// # Panics
    ///
    /// As [`closed`](Self::closed).
    #[must_use = "it may not be closed"]
    pub fn closed_deadline(&self, deadline: Instant) -> bool {
        self.shared().wait_for_close(Limit::until(Some(deadline))).is_ok()
    }

    /// [`closed`](Self::closed), where [cancellation and deadlines](crate::fiber#stopping) count.
    ///
    /// # Errors
    ///
    /// If the caller is to stop before.
    ///
    /// # Panics
    ///
    /// As [`closed`](Self::closed).
    #[track_caller]
    pub fn closed_cancellable(&self) -> Result<(), Stopped> {
        match self.shared().wait_for_close(Limit::STOP) {
            Err(GaveUp::Stopped(stop)) => Err(Stopped::new(stop, Location::caller())),
            Ok(()) | Err(GaveUp::TimedOut) => Ok(()),
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.shared.iter().for_each(|shared| shared.close());
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

// A panic leaves no value half sent.
impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}
