//! One value, from one to another: the answer to a question, say. For fibers and threads alike.
//!
//! It has the names of tokio's. What is different:
//!
//! - Errors are here, as [`oneshot::RecvError`](RecvError), where tokio has a module `error` for them.
//! - [`Receiver::recv`] is `receiver.await` there, and a receiver that waits with a limit keeps its channel.
//! - There is [`Receiver::recv_cancellable`], which [cancellation and deadlines](crate::fiber#stopping) end.
//!
//! [`select!`](crate::select) and [`Select`](super::Select) take no receivers of this kind. To wait for one value among others, use a channel by
//! [`bounded(1)`](super::bounded): sending one value to it never waits either.
//!
//! A channel is one allocation. Sending never waits: a receiver that waits has the value from the hands of whoever sends it.
//!
//! ```
//! use sinew::channel::oneshot;
//! use sinew::fiber;
//!
//! let (sender, receiver) = oneshot::channel();
//! fiber::spawn(move || sender.send(6 * 7));
//! assert_eq!(receiver.recv(), Ok(42));
//! ```

mod error;
#[cfg(all(test, loom))]
mod model;
mod receiver;
mod sender;
mod shared;

pub use error::{RecvError, RecvTimeoutError, TryRecvError};
pub use receiver::Receiver;
pub use sender::Sender;

use std::sync::Arc;

use self::shared::OneshotShared;

/// A channel for one value.
///
/// ```
/// use sinew::channel::oneshot::{self, RecvError};
///
/// let (sender, receiver) = oneshot::channel::<u32>();
/// drop(sender);
/// assert_eq!(receiver.recv(), Err(RecvError));
/// ```
#[must_use]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(OneshotShared::new());
    (Sender::new(shared.clone()), Receiver::new(shared))
}
