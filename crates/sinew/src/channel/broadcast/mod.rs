//! A channel that delivers each value to all receivers. It stores a limited number of values: a
//! slow receiver misses the oldest ones, and its next receive reports how many. For fibers and
//! threads alike.
//!
//! It uses tokio's names. Differences from tokio's `broadcast`:
//!
//! - Errors are in this module, as [`broadcast::RecvError`](RecvError), where tokio has a module
//!   `error` for them.
//! - The capacity is exact, and may be of any size: memory is allocated as values arrive.
//! - Receivers clone values in parallel and without a lock, so the handles of a channel are `Send`
//!   only if its values are also `Sync`. The last receiver of a value gets the value itself.
//! - [Cancellation and deadlines](crate::fiber#stopping) end [`Receiver::recv_cancellable`] and
//!   [`Sender::closed_cancellable`].
//!
//! [`select!`](crate::select) and [`Select`](super::Select) do not accept receivers of this kind.
//! To wait for values among others, spawn a fiber that receives them and sends them to a
//! [`bounded`](super::bounded) channel.
//!
//! Sending never waits. A channel stores the values that some receiver has not received yet, up to
//! its capacity: when it is full, the next value replaces the oldest one. A receiver that has not
//! received the replaced value gets [`Lagged`](RecvError::Lagged) with the number of values that it
//! has missed, and continues with the oldest value that is stored. Values are never cloned or
//! dropped under a lock, so a `Clone` or a `Drop` may wait, use the channel or panic. A value whose
//! `Clone` panics counts as received.
//!
//! ```
//! use sinew::channel::broadcast;
//! use sinew::fiber;
//!
//! let (sender, mut first) = broadcast::channel(16);
//! let mut second = sender.subscribe();
//! let sum = fiber::spawn(move || std::iter::from_fn(|| first.recv().ok()).sum::<u32>());
//! (1..=10).for_each(|value| drop(sender.send(value)));
//! drop(sender);
//! assert_eq!(sum.join().unwrap(), 55);
//! assert_eq!(second.recv(), Ok(1));
//! ```

mod error;
mod kept;
#[cfg(all(test, loom))]
mod model;
mod receiver;
mod sender;
mod shared;
mod weak;

pub use error::{RecvError, RecvTimeoutError, SendError, TryRecvError};
pub use receiver::Receiver;
pub use sender::Sender;
pub use weak::WeakSender;

/// Makes a channel that stores up to `capacity` values, with one sender and one receiver. Get more
/// of them by [`Sender::clone`] and [`Sender::subscribe`].
///
/// ```
/// use sinew::channel::broadcast::{self, RecvError};
///
/// let (sender, mut receiver) = broadcast::channel(2);
/// (1..=5).for_each(|value| assert_eq!(sender.send(value), Ok(1)));
/// assert_eq!(receiver.recv(), Err(RecvError::Lagged(3)));
/// assert_eq!((receiver.recv(), receiver.recv()), (Ok(4), Ok(5)));
/// ```
///
/// # Panics
///
/// Panics if the capacity is zero.
#[must_use]
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::new(capacity);
    let receiver = sender.subscribe();
    (sender, receiver)
}
