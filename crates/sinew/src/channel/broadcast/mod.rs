//! Each value to all who listen, up to a bound: whoever is too slow misses the oldest, and hears how many. For fibers and threads alike.
//!
//! It has the names of tokio's. What is different:
//!
//! - Errors are here, as [`broadcast::RecvError`](RecvError), where tokio has a module `error` for them.
//! - The capacity is exact, and may be of any size: memory is taken as values come.
//! - Values are cloned by whoever receives them, several at once and under no lock, so the handles of a channel are `Send` only if its values are `Sync`
//!   too. The last one who receives a value has the value itself.
//! - There are [`Receiver::recv_cancellable`] and [`Sender::closed_cancellable`], which
//!   [cancellation and deadlines](crate::fiber#stopping) end.
//!
//! [`select!`](crate::select) and [`Select`](super::Select) take no receivers of this kind. To wait for values among others, have a fiber that receives them
//! send them on by a [`bounded`](super::bounded) channel.
//!
//! Sending never waits. A channel keeps what somebody has not received yet, and that is at most its capacity: one value more, and the oldest one
//! is gone. A receiver that has not received it gets [`Lagged`](RecvError::Lagged) with the number of those that it has missed, and goes on with the oldest that
//! is kept. Values are never cloned or dropped under a lock, so a `Clone` or a `Drop` may wait, use the channel or panic: a value whose `Clone` panics counts
//! as received.
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

/// A channel that keeps up to so many values, with one who sends and one who receives. There may be more of either: [`Sender::clone`],
/// [`Sender::subscribe`].
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
/// If the capacity is zero.
#[must_use]
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::new(capacity);
    let receiver = sender.subscribe();
    (sender, receiver)
}
