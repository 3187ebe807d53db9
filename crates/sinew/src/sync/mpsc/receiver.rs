//! The receiving half of a channel.

use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;
use std::sync::mpsc::{RecvError, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use super::iter::{Iter, TryIter};
use crate::channel::{Channel, NotReceived, receive_methods};
use crate::fiber::Stopped;
use crate::rt::{Limit, impl_debug, impl_unwind_safe};

/// The receiving half of a [`channel`](super::channel) or a [`sync_channel`](super::sync_channel).
/// As [`std::sync::mpsc::Receiver`], it is `Send` but not `Sync`.
///
/// ```compile_fail,E0277
/// use sinew::sync::mpsc;
///
/// fn is_shared<T: Sync>(_: T) {}
/// is_shared(mpsc::channel::<u32>().1);
/// ```
pub struct Receiver<T> {
    channel: Arc<Channel<T>>,
    /// The channel has one receiver, which one caller uses at a time.
    not_sync: PhantomData<std::cell::Cell<()>>,
}

impl<T> Receiver<T> {
    pub(super) fn new(channel: Arc<Channel<T>>) -> Self {
        Self { channel, not_sync: PhantomData }
    }

    receive_methods! {
        /// Waits for a message.
        ///
        /// ```
        /// use sinew::fiber;
        /// use sinew::sync::mpsc::channel;
        ///
        /// let (sender, receiver) = channel();
        /// fiber::spawn(move || sender.send(5).unwrap());
        /// assert_eq!(receiver.recv(), Ok(5));
        /// // The fiber has dropped its sender.
        /// assert!(receiver.recv().is_err());
        /// ```
        ///
        /// # Errors
        ///
        /// Returns an error if the channel is empty and all senders were dropped.
        ///
        /// # Panics
        ///
        /// Panics if the caller would have to wait and is inside
        /// [`no_suspend`](crate::fiber::no_suspend).
        recv
        /// Returns a message if there is one. Never waits.
        ///
        /// ```
        /// use sinew::sync::mpsc::{TryRecvError, channel};
        ///
        /// let (sender, receiver) = channel();
        /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
        /// sender.send(5).unwrap();
        /// drop(sender);
        /// assert_eq!(receiver.try_recv(), Ok(5));
        /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        /// ```
        ///
        /// # Errors
        ///
        /// Returns [`Empty`](TryRecvError::Empty) if the channel is empty, and
        /// [`Disconnected`](TryRecvError::Disconnected) if it is empty and all senders were
        /// dropped.
        try_recv
        /// Waits as [`recv`](Self::recv) does, but at most for `timeout`.
        ///
        /// ```
        /// use sinew::sync::mpsc::{RecvTimeoutError, channel};
        /// use std::time::Duration;
        ///
        /// let (sender, receiver) = channel::<u32>();
        /// let received = receiver.recv_timeout(Duration::from_millis(1));
        /// assert_eq!(received, Err(RecvTimeoutError::Timeout));
        /// # drop(sender);
        /// ```
        ///
        /// # Errors
        ///
        /// Returns [`Timeout`](RecvTimeoutError::Timeout) if no message came in that time, and
        /// [`Disconnected`](RecvTimeoutError::Disconnected) if the channel is empty and all senders
        /// were dropped.
        ///
        /// # Panics
        ///
        /// Panics as [`recv`](Self::recv) does.
        recv_timeout
        /// Waits as [`recv`](Self::recv) does, but until `deadline` at the latest.
        ///
        /// # Errors
        ///
        /// Fails as [`recv_timeout`](Self::recv_timeout) does.
        ///
        /// # Panics
        ///
        /// Panics as [`recv`](Self::recv) does.
        recv_deadline
        /// Waits as [`recv`](Self::recv) does, but [cancellation and
        /// deadlines](crate::fiber#stopping) end the wait.
        ///
        /// ```
        /// use sinew::sync::mpsc::channel;
        /// use sinew::time;
        /// use std::time::Duration;
        ///
        /// let (sender, receiver) = channel::<u32>();
        /// let stopped = time::timeout(Duration::from_millis(1), || receiver.recv_cancellable());
        /// assert!(stopped.unwrap_err().is_timed_out());
        /// # drop(sender);
        /// ```
        ///
        /// # Errors
        ///
        /// Returns an error if the caller is stopped before a message comes, or was stopped before
        /// the call and the channel is empty. The inner result is that of [`recv`](Self::recv).
        ///
        /// # Panics
        ///
        /// Panics as [`recv`](Self::recv) does.
        recv_cancellable
        /// Returns an iterator that waits for each message, and ends when all senders were dropped.
        ///
        /// ```
        /// use sinew::fiber;
        /// use sinew::sync::mpsc::channel;
        ///
        /// let (sender, receiver) = channel();
        /// fiber::spawn(move || (1..=3).for_each(|number| sender.send(number).unwrap()));
        /// assert_eq!(receiver.iter().collect::<Vec<_>>(), [1, 2, 3]);
        /// ```
        ///
        /// # Panics
        ///
        /// The iterator panics as [`recv`](Self::recv) does.
        iter
        /// Returns an iterator over the messages that are in the channel. It never waits.
        try_iter
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
