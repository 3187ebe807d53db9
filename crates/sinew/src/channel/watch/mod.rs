//! A channel for the latest value: receivers see that it has changed, and may miss values in
//! between. For fibers and threads alike.
//!
//! Use it for a value that is replaced from time to time and has many readers: a configuration, a
//! state, a signal to shut down. It uses tokio's names. Differences from tokio's `watch`:
//!
//! - Errors are in this module, as [`watch::RecvError`](RecvError), where tokio has a module
//!   `error` for them.
//! - [`Receiver::changed`], [`Receiver::wait_for`] and [`Sender::closed`] have variants with a time
//!   limit, with a deadline, and [`cancellable`](Receiver::changed_cancellable) ones, which
//!   [cancellation and deadlines](crate::fiber#stopping) end.
//! - [`Ref::has_changed`] of [`Receiver::wait_for`] compares with the value that the receiver had
//!   seen before the call. In tokio it is false after a wait.
//! - Sending waits for [borrows](Ref) of the value, and borrowing waits for a sender that is
//!   changing it. A fiber that waits lets other fibers use its worker; tokio's handles block the
//!   thread.
//!
//! [`select!`](crate::select) and [`Select`](super::Select) do not accept receivers of this kind.
//!
//! Each value has a version, and each receiver remembers which version it has seen. A new receiver
//! has seen the current one. [`Receiver::borrow`] does not mark the value as seen;
//! [`Receiver::borrow_and_update`], [`Receiver::changed`] and [`Receiver::wait_for`] do. Values are
//! not compared: sending an equal value is a change, too.
//!
//! What happens before a value is sent is visible to a receiver that was notified of the change.
//!
//! A value that is replaced is dropped without a lock, so its `Drop` may wait or use the channel.
//!
//! ```
//! use sinew::channel::watch;
//! use sinew::fiber;
//!
//! let (sender, mut receiver) = watch::channel("starting");
//! let sees = fiber::spawn(move || {
//!     while receiver.changed().is_ok() {
//!         if *receiver.borrow_and_update() == "ready" {
//!             return true;
//!         }
//!     }
//!     false
//! });
//! sender.send("loading").unwrap();
//! sender.send("ready").unwrap();
//! assert!(sees.join().unwrap());
//! ```

mod error;
#[cfg(all(test, loom))]
mod model;
mod receiver;
mod reference;
mod sender;
mod shared;
mod state;
mod value;

pub use error::{RecvError, RecvTimeoutError, SendError};
pub use receiver::Receiver;
pub use reference::Ref;
pub use sender::Sender;

/// Makes a channel with this value, one sender, and one receiver which has seen the value.
///
/// ```
/// use sinew::channel::watch;
///
/// let (sender, receiver) = watch::channel(1);
/// assert_eq!(receiver.has_changed(), Ok(false));
/// sender.send(2).unwrap();
/// assert_eq!((receiver.has_changed(), *receiver.borrow()), (Ok(true), 2));
/// ```
#[must_use]
pub fn channel<T>(init: T) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::new(init);
    let receiver = sender.subscribe();
    (sender, receiver)
}
