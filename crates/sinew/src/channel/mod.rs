//! Channels with the API of crossbeam-channel, between fibers, threads and both.
//!
//! [`bounded`] and [`unbounded`] make a channel. Both handles may be [cloned](Sender) and shared,
//! and each message goes to one receiver. A fiber that waits for a message, or for room, lets other
//! fibers use its worker. Waiters are served in the order in which they arrived, and a message for
//! a waiting receiver is moved directly to it, without being stored in the channel.
//!
//! ```
//! use sinew::{channel, fiber};
//!
//! let (sender, receiver) = channel::bounded(2);
//! fiber::spawn(move || (0..5).for_each(|number| sender.send(number).unwrap()));
//! assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
//! ```
//!
//! [`after`], [`at`], [`tick`] and [`never()`] make receivers whose messages are due at certain
//! times. No fiber and no timer stands behind them. The macros [`select!`](crate::select) and
//! [`select_biased!`](crate::select_biased) wait for several channels at once. So does [`Select`],
//! for a number of channels that is known only at run time.
//!
//! There are three more kinds of channel, with tokio's names: [`oneshot`] for a single value,
//! [`broadcast`] for values that all receivers get, and [`watch`] for the latest value.
//!
//! Differences from crossbeam-channel 0.5:
//!
//! - [Cancellation and deadlines](crate::fiber#stopping) end
//!   [`send_cancellable`](Sender::send_cancellable),
//!   [`recv_cancellable`](Receiver::recv_cancellable) and
//!   [`select_cancellable`](Select::select_cancellable). All other operations ignore them.
//! - A [`Select`] is not `Send`.
//! - A channel may have any capacity: if the messages would need more than 64 KiB, memory is
//!   allocated as they arrive.
//! - Dropping the last receiver drops the messages that were not received. crossbeam's bounded
//!   channels keep them until the senders are gone, too.
//! - A slot that is reserved for a selected message which is [not sent yet](SelectedOperation)
//!   makes no other caller wait: `try_send` finds the channel full and `try_recv` finds it empty,
//!   where crossbeam's wait for that message. The message goes behind those that are sent in the
//!   meantime.
//! - `select! {}` waits forever, which crossbeam does not compile, and the number of arms is not
//!   limited.
//!
//! # Capacity 0 and select
//!
//! A channel of capacity 0 stores no message: a sender and a receiver meet. A sender that meets a
//! receiver through [`select!`](crate::select) or a [`Select`] produces its message only
//! afterwards, and cannot be refused any more. So a receiver that has met such a sender waits until
//! the message arrives, however long that takes. No limit ends this wait:
//!
//! - [`recv_timeout`](Receiver::recv_timeout), [`recv_deadline`](Receiver::recv_deadline),
//!   [`select_timeout`](Select::select_timeout), [`select_deadline`](Select::select_deadline) and
//!   `default` with a time return late if the sender takes longer than the remaining time;
//!   [`select_cancellable`](Select::select_cancellable) do not observe cancellation and deadlines;
//! - [`try_recv`](Receiver::try_recv), [`try_iter`](Receiver::try_iter),
//!   [`try_select`](Select::try_select) and `default` without a time wait as well. Inside
//!   [`no_suspend`](crate::fiber::no_suspend) they pass over such senders.
//!
//! The wait ends when the [`SelectedOperation`] is completed, or dropped. `select!` completes it as
//! soon as the message is evaluated. After a drop, the receiver continues as if it had met no
//! sender. If the operation is forgotten, by [`mem::forget`](std::mem::forget) or in a fiber that
//! never continues, the receiver waits forever. crossbeam's receivers spin instead, also after a
//! drop.
//!
//! Senders never wait in this way: a receiver that selects takes the message at the moment in which
//! it meets the sender. Nor do receivers of [`sync::mpsc`](crate::sync::mpsc), whose senders cannot
//! select.
//!
//! # Large messages
//!
//! Messages are passed by value, as in crossbeam, and use several times their size of stack on the
//! way. A fiber has less stack than a thread: a message of 16 KiB may overflow the
//! [default](crate::RuntimeBuilder::stack_size) stack, and in a debug build one of 12 KiB. Box
//! messages that are larger than a few KiB.

// The handles of both ends share a [`Channel`]. It has a flavour: [`Buffered`](buffered::Buffered),
// over one of two stores of messages; [`Rendezvous`](rendezvous::Rendezvous), which stores none; or
// [`Clock`](clock::Clock). `sync::mpsc` uses them, too.

mod blocks;
pub mod broadcast;
mod buffered;
mod clock;
mod error;
mod handle_methods;
mod iter;
mod make;
pub mod oneshot;
mod reason;
mod receiver;
mod rendezvous;
mod ring;
#[cfg(feature = "select")]
mod select;
mod sender;
mod shared;
#[cfg(not(loom))]
mod slot;
#[cfg(loom)]
#[path = "slot_model.rs"]
mod slot;
mod store;
mod wait_slot;
pub mod watch;
mod watchers;

#[cfg(all(test, loom))]
mod model;

#[cfg(feature = "select")]
pub use crate::{select, select_biased};
pub use error::{
    RecvError, RecvTimeoutError, SendCancellableError, SendError, SendTimeoutError, TryRecvError,
    TrySendError,
};
pub(crate) use handle_methods::{receive_methods, send_methods, sender_handle};
pub(crate) use iter::message_iterators;
pub use iter::{IntoIter, Iter, TryIter};
pub use make::{after, at, bounded, never, tick, unbounded};
pub use receiver::Receiver;
#[cfg(feature = "select")]
pub use select::{
    ReadyTimeoutError, Select, SelectTimeoutError, SelectedOperation, TryReadyError, TrySelectError,
};
pub use sender::Sender;

pub(crate) use buffered::SendRefused;
pub(crate) use reason::{NotReceived, NotSent};
pub(crate) use shared::Channel;
