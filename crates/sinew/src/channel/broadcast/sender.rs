//! The handle to send by.

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
/// assert_eq!(sender.send("nobody listens").unwrap_err().0, "nobody listens");
/// let mut receivers = [sender.subscribe(), sender.subscribe()];
/// assert_eq!(sender.send("hello"), Ok(2));
/// assert!(receivers.iter_mut().all(|receiver| receiver.recv() == Ok("hello")));
/// ```
///
/// Values are cloned by several at once, so they have to be `Sync` for a handle to go elsewhere:
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
    /// A handle that is counted as a sender already.
    pub(super) fn counted(shared: Arc<BroadcastShared<T>>) -> Self {
        Self { shared }
    }

    /// Makes a sender of a channel with this capacity and no receivers.
    ///
    /// # Panics
    ///
    /// If the capacity is zero.
    #[must_use]
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "a broadcast channel keeps one value at least: its capacity cannot be zero");
        Self { shared: Arc::new(BroadcastShared::new(capacity)) }
    }

    /// Sends a value to all who listen now, and returns how many these are. Never waits: if as many are kept as may be, the oldest one goes.
    ///
    /// That it was sent does not mean that it is received: receivers may be dropped, or too slow.
    ///
    /// # Errors
    ///
    /// If nobody listens. The value is in the error. Somebody may listen later.
    ///
    /// # Panics
    ///
    /// If the destructor of the one that goes does. The new one was sent then.
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        self.shared.send(value)
    }

    /// One more who listens, to what is sent from now on.
    #[must_use]
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver::new(self.shared.clone())
    }

    /// How many values are kept, since somebody has not received them yet.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.with(|kept| kept.len())
    }

    /// Whether all have received all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many listen.
    #[must_use]
    pub fn receiver_count(&self) -> usize {
        self.shared.with(|kept| kept.receivers)
    }

    limited_waits! {
        /// Waits until there is no receiver. Returns also if another one has subscribed since.
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

    /// Whether both send to the same channel.
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
