//! The handle to receive by.

use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::iter::{Iter, TryIter};
use super::reason::NotReceived;
use super::{Channel, receive_methods};
use crate::fiber::Stopped;
use crate::rt::{Limit, impl_debug, impl_unwind_safe};

/// Receives what is sent by the [`Sender`](super::Sender)s of a channel. There may be many, and each message goes to one of them: it is
/// cloned, sent elsewhere and shared.
///
/// With the last receiver all messages are dropped that nobody has received. A bounded channel of
/// crossbeam's keeps them for as long as there are senders. If destructors of messages panic, all
/// messages are dropped nevertheless, and the first panic goes on when they are; if the caller unwinds
/// already, none does. crossbeam leaks what comes after the first.
///
/// ```
/// use sinew::channel;
/// use sinew::fiber;
///
/// let (sender, receiver) = channel::unbounded();
/// let workers = [receiver.clone(), receiver].map(|numbers| fiber::spawn(move || numbers.iter().sum::<u32>()));
/// (0..10).for_each(|number| sender.send(number).unwrap());
/// drop(sender);
/// assert_eq!(workers.map(|worker| worker.join().unwrap()).iter().sum::<u32>(), 45);
/// ```
///
/// It goes to other threads only if its messages may:
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
        /// Waits for a message.
        ///
        /// # Errors
        ///
        /// If there is none, and all senders are gone, or go.
        ///
        /// # Panics
        ///
        /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
        recv
        /// Receives a message, if there is one now.
        ///
        /// With a capacity of 0, if a sender waits. If that is a `select`, the caller
        /// [waits for its message](super#capacity-0-and-select), and for ever if the operation is forgotten.
        /// Inside [`no_suspend`](crate::fiber::no_suspend) it passes over such senders.
        ///
        /// # Errors
        ///
        /// If there is none, or there is none and all senders are gone.
        try_recv
        /// [`recv`](Self::recv), for at most so long.
        ///
        /// With a capacity of 0, a receiver that has met a `select` which sends waits for its message
        /// [beyond that time](super#capacity-0-and-select), and for ever if the operation is forgotten.
        ///
        /// # Errors
        ///
        /// If none came in that time, or there is none and all senders are gone.
        ///
        /// # Panics
        ///
        /// As [`recv`](Self::recv).
        recv_timeout
        /// [`recv`](Self::recv), until this moment at the latest.
        ///
        /// With a capacity of 0, a receiver that has met a `select` which sends waits for its message
        /// [beyond that time](super#capacity-0-and-select), and for ever if the operation is forgotten.
        ///
        /// # Errors
        ///
        /// As [`recv_timeout`](Self::recv_timeout).
        ///
        /// # Panics
        ///
        /// As [`recv`](Self::recv).
        recv_deadline
        /// [`recv`](Self::recv), where [cancellation and deadlines](crate::fiber#stopping) count.
        ///
        /// With a capacity of 0, a receiver that has met a `select` which sends waits for its message
        /// [whatever these say](super#capacity-0-and-select), and for ever if the operation is forgotten.
        ///
        /// # Errors
        ///
        /// If the caller is to stop before there is one, or was to stop already and there is none. Inside, as [`recv`](Self::recv).
        ///
        /// # Panics
        ///
        /// As [`recv`](Self::recv).
        recv_cancellable
        /// All messages, until nobody is left to send one.
        ///
        /// # Panics
        ///
        /// The iterator does, as [`recv`](Self::recv).
        iter
        /// All messages that are there now, by [`try_recv`](Self::try_recv).
        try_iter
    }

    /// Whether it keeps no message now. Always, with a capacity of 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there is no room now: a place that is [reserved](super::SelectedOperation) is none. Always, with a capacity of 0.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.channel.is_full()
    }

    /// How many messages it keeps now. A place that is [reserved](super::SelectedOperation) does not count.
    #[must_use]
    pub fn len(&self) -> usize {
        self.channel.len()
    }

    /// How many it can keep; none, if there is no limit.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.channel.capacity()
    }

    /// Whether the other one receives from the same channel.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        // As crossbeam's, those of `never` are all one.
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
