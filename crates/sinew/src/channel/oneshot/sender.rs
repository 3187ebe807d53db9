//! The sending handle of a oneshot channel.

use std::sync::Arc;

use super::shared::OneshotShared;
use crate::limited::limited_waits;
use crate::rt::{GaveUp, Limit, impl_debug, impl_unwind_safe};

/// Sends one value to the [`Receiver`](super::Receiver). Dropping it without sending closes the
/// channel.
pub struct Sender<T> {
    /// `None` after the value was sent.
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
    /// A value that was sent is not always received: the receiver may be dropped without receiving
    /// it.
    ///
    /// ```
    /// use sinew::channel::oneshot;
    ///
    /// let (sender, receiver) = oneshot::channel();
    /// drop(receiver);
    /// assert_eq!(sender.send("too late"), Err("too late"));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the value as the error if the receiver is gone or was closed.
    pub fn send(mut self, value: T) -> Result<(), T> {
        let sent = self.shared().send(value);
        // The drop of the handle must not close the channel.
        self.shared = None;
        sent
    }

    /// Returns whether the receiver is gone or was closed, so that no value can be sent.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared().is_closed()
    }

    limited_waits! {
        /// Waits until the receiver is gone or is closed, and thus does not need a value any more.
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
