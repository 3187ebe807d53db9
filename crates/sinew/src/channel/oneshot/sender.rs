//! The handle to send by.

use std::sync::Arc;

use super::shared::OneshotShared;
use crate::limited::limited_waits;
use crate::rt::{GaveUp, Limit, impl_debug, impl_unwind_safe};

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

    limited_waits! {
        /// Waits until the receiver is gone, or is closed: nobody wants an answer then.
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
        closed, closed_timeout, closed_deadline, closed_cancellable by closed_within, must_use "it may not be closed"
    }

    fn closed_within(&self, limit: Limit) -> Result<(), GaveUp> {
        self.shared().wait_for_close(limit)
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.shared.iter().for_each(|shared| shared.close());
    }
}

impl_debug!(Sender<T>, ..);

// A panic leaves no value half sent.
impl_unwind_safe!(Sender<T>);
