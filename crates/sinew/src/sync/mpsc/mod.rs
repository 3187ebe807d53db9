//! Channels with many senders and one receiver, with the names of [`std::sync::mpsc`], for fibers
//! and threads.
//!
//! A program that uses std's channels moves to fibers by changing its imports: names, errors and
//! their meaning are the same. A fiber that waits for a message, or for room, leaves its worker to
//! other fibers.
//!
//! Differences from std:
//!
//! - [`recv_deadline`](Receiver::recv_deadline) and [`send_timeout`](SyncSender::send_timeout) are
//!   stable. [Cancellation and deadlines](crate::fiber#stopping) end
//!   [`recv_cancellable`](Receiver::recv_cancellable) and
//!   [`send_cancellable`](SyncSender::send_cancellable).
//! - Senders that wait for room send in the order in which they came.
//! - A channel whose full buffer would exceed 64 KiB allocates it as messages arrive, so the bound
//!   may be of any size.
//!
//! ```
//! use sinew::fiber;
//! use sinew::sync::mpsc;
//!
//! let (sender, receiver) = mpsc::channel();
//! for number in 0..10 {
//!     let sender = sender.clone();
//!     fiber::spawn(move || sender.send(number).unwrap());
//! }
//! drop(sender);
//! assert_eq!(receiver.iter().sum::<u32>(), 45);
//! ```

mod error;
mod iter;
mod receiver;
mod sender;

pub use crate::channel::SendCancellableError;
pub use error::SendTimeoutError;
pub use iter::{IntoIter, Iter, TryIter};
pub use receiver::Receiver;
pub use sender::{Sender, SyncSender};

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use std::sync::Arc;

use crate::channel::Channel;

/// Creates a channel without a bound: sending never waits for room.
///
/// ```
/// use sinew::sync::mpsc::channel;
///
/// let (sender, receiver) = channel();
/// sender.send(1).unwrap();
/// drop(sender);
/// assert_eq!(receiver.recv(), Ok(1));
/// assert!(receiver.recv().is_err());
/// ```
#[must_use]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(Channel::unbounded());
    (Sender::new(channel.clone()), Receiver::new(channel))
}

/// Creates a channel that stores up to `bound` messages. A sender waits while it is full. With a
/// bound of 0, a sender waits until the receiver takes the message.
///
/// ```
/// use sinew::sync::mpsc::{TrySendError, sync_channel};
///
/// let (sender, receiver) = sync_channel(1);
/// sender.send(1).unwrap();
/// assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
/// assert_eq!(receiver.recv(), Ok(1));
/// ```
#[must_use]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let channel = Arc::new(Channel::bounded(bound));
    (SyncSender::new(channel.clone()), Receiver::new(channel))
}
