//! The sending handle of a broadcast channel.

use std::sync::Arc;

use super::error::SendError;
use super::receiver::Receiver;
use super::shared::BroadcastShared;
use super::weak::WeakSender;
use crate::limited::limited_waits;
use crate::rt::{GaveUp, Limit, impl_debug, impl_unwind_safe};

/// Sends to all [`Receiver`]s of a channel.
///
/// ```
/// use sinew::channel::broadcast::Sender;
///
/// let sender = Sender::new(8);
/// assert_eq!(sender.send("no receiver").unwrap_err().0, "no receiver");
/// let mut receivers = [sender.subscribe(), sender.subscribe()];
/// assert_eq!(sender.send("hello"), Ok(2));
/// assert!(receivers.iter_mut().all(|receiver| receiver.recv() == Ok("hello")));
/// ```
///
/// Receivers clone values in parallel, so values must be `Sync` for a handle to be `Send`:
///
/// ```compile_fail,E0277
/// use sinew::channel::broadcast::Sender;
/// use std::cell::Cell;
///
/// fn is_sent<T: Send>(_: T) {}
/// is_sent(Sender::<Cell<u32>>::new(1));
/// ```
pub struct Sender<T> {
    shared: Arc<BroadcastShared<T>>,
}

impl<T> Sender<T> {
    /// Makes a handle that is already counted as a sender.
    pub(super) fn counted(shared: Arc<BroadcastShared<T>>) -> Self {
        Self { shared }
    }

    /// Makes a sender of a channel with this capacity and no receivers.
    ///
    /// # Panics
    ///
    /// Panics if the capacity is zero.
    #[must_use]
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "a broadcast channel keeps one value at least: its capacity cannot be zero");
        Self { shared: Arc::new(BroadcastShared::new(capacity)) }
    }

    /// Sends a value to all current receivers, and returns their number. Never waits: if the
    /// channel is full, the value replaces the oldest one.
    ///
    /// A value that was sent is not always received: receivers may be dropped, or may be too slow.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no receiver. The error contains the value. A later call may
    /// succeed, since receivers can [subscribe](Self::subscribe) later.
    ///
    /// # Panics
    ///
    /// Panics if the destructor of the oldest value panics. The new value was sent then.
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        self.shared.send(value)
    }

    /// Makes a receiver of the values that are sent from now on.
    #[must_use]
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver::new(self.shared.clone())
    }

    /// Returns the number of values that are stored since a receiver has not received them yet.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.with(|kept| kept.len())
    }

    /// Returns whether all receivers have received all values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of receivers.
    #[must_use]
    pub fn receiver_count(&self) -> usize {
        self.shared.with(|kept| kept.receivers)
    }

    limited_waits! {
        /// Waits until there is no receiver. Also returns if another one has subscribed since.
        ///
        /// ```
        /// use sinew::channel::broadcast;
        /// use sinew::fiber;
        ///
        /// let (sender, receiver) = broadcast::channel::<u32>(1);
        /// let watches = fiber::spawn(move || sender.closed());
        /// drop(receiver);
        /// watches.join().unwrap();
        /// ```
        closed, closed_timeout, closed_deadline, closed_cancellable by closed_within, must_use "there may be receivers"
    }

    fn closed_within(&self, limit: Limit) -> Result<(), GaveUp> {
        self.shared.wait_for_close(limit)
    }

    /// Makes a handle that does not keep the channel open.
    #[must_use]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender::new(self.shared.clone())
    }

    /// Returns the number of senders.
    ///
    /// ```
    /// use sinew::channel::broadcast::Sender;
    ///
    /// let sender = Sender::<u32>::new(1);
    /// let (other, weak) = (sender.clone(), sender.downgrade());
    /// assert_eq!((sender.strong_count(), sender.weak_count()), (2, 1));
    /// # drop((other, weak));
    /// ```
    #[must_use]
    pub fn strong_count(&self) -> usize {
        self.shared.with(|kept| kept.senders)
    }

    /// Returns the number of [`WeakSender`]s.
    #[must_use]
    pub fn weak_count(&self) -> usize {
        self.shared.with(|kept| kept.weak_senders)
    }

    /// Returns whether both handles send to the same channel.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.with(|kept| kept.senders += 1);
        Self { shared: self.shared.clone() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.shared.drop_sender();
    }
}

impl_debug!(Sender<T>, ..);

// A panic leaves no value half sent.
impl_unwind_safe!(Sender<T>);
