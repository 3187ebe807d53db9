//! The receiving handle of a channel.

use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::iter::{Iter, TryIter};
use super::reason::NotReceived;
use super::{Channel, receive_methods};
use crate::fiber::Stopped;
use crate::rt::{Limit, impl_debug, impl_unwind_safe};

/// Receives from the [`Sender`](super::Sender)s of a channel. It may be cloned, shared and moved to
/// other fibers and threads. Each message goes to one receiver.
///
/// Dropping the last receiver drops the messages that were not received. A bounded channel of
/// crossbeam keeps them as long as there are senders. If destructors of messages panic, all
/// messages are dropped nevertheless, and then the first panic is resumed, unless the caller is
/// unwinding already. crossbeam leaks the messages after the first panic.
///
/// ```
/// use sinew::channel;
/// use sinew::fiber;
///
/// let (sender, receiver) = channel::unbounded();
/// let workers = [receiver.clone(), receiver]
///     .map(|numbers| fiber::spawn(move || numbers.iter().sum::<u32>()));
/// (0..10).for_each(|number| sender.send(number).unwrap());
/// drop(sender);
/// assert_eq!(workers.map(|worker| worker.join().unwrap()).iter().sum::<u32>(), 45);
/// ```
///
/// It is `Send` and `Sync` only if its messages are `Send`:
///
/// ```compile_fail,E0277
/// fn is_send<T: Send>() {}
/// is_send::<sinew::channel::Receiver<std::rc::Rc<u8>>>();
/// ```
///
/// ```compile_fail,E0277
/// fn is_sync<T: Sync>() {}
/// is_sync::<sinew::channel::Receiver<std::rc::Rc<u8>>>();
/// ```
pub struct Receiver<T> {
    pub(super) channel: Arc<Channel<T>>,
}

impl<T> Receiver<T> {
    pub(super) fn new(channel: Arc<Channel<T>>) -> Self {
        Self { channel }
    }

    receive_methods! {
        /// Receives a message, and waits until there is one.
        ///
        /// Unlike [`std::sync::mpsc::Receiver::recv`], it suspends a fiber instead of blocking its
        /// worker.
        ///
        /// # Errors
        ///
        /// Returns an error if there is no message and all senders are gone, or if the last one is
        /// dropped while the caller waits.
        ///
        /// # Panics
        ///
        /// Panics if the caller would have to wait inside [`no_suspend`](crate::fiber::no_suspend).
        recv
        /// Receives a message if there is one now.
        ///
        /// With a capacity of 0, receives one if a sender waits. If that sender is a `select`, the
        /// caller [waits for its message](super#capacity-0-and-select), and waits forever if the
        /// operation is forgotten. Inside [`no_suspend`](crate::fiber::no_suspend) it skips such
        /// senders.
        ///
        /// ```
        /// use sinew::channel::{self, TryRecvError};
        ///
        /// let (sender, receiver) = channel::bounded(1);
        /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        /// sender.send(1).unwrap();
        /// drop(sender);
        /// assert_eq!(receiver.try_recv(), Ok(1));
        /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        /// ```
        ///
        /// # Errors
        ///
        /// Returns an error if there is no message, which says whether all senders are gone.
        try_recv
        /// Receives a message like [`recv`](Self::recv), and gives up after `timeout`.
        ///
        /// With a capacity of 0, a receiver that has met a sending `select` waits for its message
        /// [beyond that time](super#capacity-0-and-select), and waits forever if the operation is
        /// forgotten.
        ///
        /// ```
        /// use sinew::channel::{self, RecvTimeoutError};
        /// use std::time::Duration;
        ///
        /// let (_sender, receiver) = channel::bounded::<u32>(1);
        /// let result = receiver.recv_timeout(Duration::from_millis(1));
        /// assert_eq!(result, Err(RecvTimeoutError::Timeout));
        /// ```
        ///
        /// # Errors
        ///
        /// Returns an error if no message arrived until the time was over, or if there is none and
        /// all senders are gone.
        ///
        /// # Panics
        ///
        /// Panics as [`recv`](Self::recv) does.
        recv_timeout
        /// Receives a message like [`recv`](Self::recv), and gives up at `deadline`.
        ///
        /// With a capacity of 0, a receiver that has met a sending `select` waits for its message
        /// [beyond that time](super#capacity-0-and-select), and waits forever if the operation is
        /// forgotten.
        ///
        /// # Errors
        ///
        /// Returns an error as [`recv_timeout`](Self::recv_timeout) does.
        ///
        /// # Panics
        ///
        /// Panics as [`recv`](Self::recv) does.
        recv_deadline
        /// Receives a message like [`recv`](Self::recv), and gives up when [cancellation or a
        /// deadline](crate::fiber#stopping) stops the caller.
        ///
        /// With a capacity of 0, a receiver that has met a sending `select` waits for its message
        /// [although it is stopped](super#capacity-0-and-select), and waits forever if the
        /// operation is forgotten.
        ///
        /// # Errors
        ///
        /// Returns the outer error if the caller is stopped while it waits, or is already stopped
        /// and there is no message. The inner error is that of [`recv`](Self::recv).
        ///
        /// # Panics
        ///
        /// Panics as [`recv`](Self::recv) does.
        recv_cancellable
        /// Returns an iterator over all messages. It waits for each, and ends when there is none
        /// and all senders are gone.
        ///
        /// # Panics
        ///
        /// The iterator panics as [`recv`](Self::recv) does.
        iter
        /// Returns an iterator over the messages that are available now. It ends when
        /// [`try_recv`](Self::try_recv) returns none.
        try_iter
    }

    /// Returns whether no message is stored now. Always true with a capacity of 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether there is no room now. A [reserved](super::SelectedOperation) slot counts as
    /// filled. Always true with a capacity of 0.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.channel.is_full()
    }

    /// Returns the number of messages that are stored now. [Reserved](super::SelectedOperation)
    /// slots do not count.
    #[must_use]
    pub fn len(&self) -> usize {
        self.channel.len()
    }

    /// Returns the number of messages that can be stored, or `None` if there is no limit.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.channel.capacity()
    }

    /// Returns whether both handles receive from the same channel.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        // All channels of `never` count as one, as in crossbeam.
        Arc::ptr_eq(&self.channel, &other.channel) || self.channel.is_never() && other.channel.is_never()
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.channel.add_receiver();
        Self { channel: self.channel.clone() }
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
