//! A channel for one value from one sender to one receiver, such as the answer to a request. For
//! fibers and threads alike.
//!
//! It uses tokio's names. Differences from tokio's `oneshot`:
//!
//! - Errors are in this module, as [`oneshot::RecvError`](RecvError), where tokio has a module
//!   `error` for them.
//! - [`Receiver::recv`] replaces `receiver.await`. A receiver that waits with a limit keeps its
//!   channel.
//! - [Cancellation and deadlines](crate::fiber#stopping) end [`Receiver::recv_cancellable`].
//!
//! [`select!`](crate::select) and [`Select`](super::Select) do not accept receivers of this kind.
//! To wait for one value among others, use a channel with [`bounded(1)`](super::bounded): sending
//! one value to it never waits either.
//!
//! A channel is one allocation. Sending never waits. A value for a waiting receiver is moved
//! directly to it.
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

/// Makes a channel for one value.
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
