//! Channels with the API of crossbeam-channel, between fibers, threads and both.
//!
//! [`bounded`] and [`unbounded`] make one: both ends may be [cloned](Sender) and shared, and each message goes to one who receives. A fiber that waits
//! for a message, or for room, gives its worker to others. Who waits is served in the order in which it came, and a message for one who waits
//! is moved to it without being kept in between.
//!
//! ```
//! use sinew::{channel, fiber};
//!
//! let (sender, receiver) = channel::bounded(2);
//! fiber::spawn(move || (0..5).for_each(|number| sender.send(number).unwrap()));
//! assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
//! ```
//!
//! [`after`], [`at`], [`tick`] and [`never()`] make ends that receive by the clock, without any fiber or timer behind them. The macros
//! [`select!`](crate::select) and [`select_biased!`](crate::select_biased) wait for several channels at once, as does [`Select`], for any number of them.
//!
//! There are three more kinds of channel, with tokio's names: [`oneshot`] for a single value,
//! [`broadcast`] for values that all receivers get, and [`watch`] for the latest value.
//!
//! What is different from crossbeam-channel 0.5:
//!
//! - [`send_cancellable`](Sender::send_cancellable), [`recv_cancellable`](Receiver::recv_cancellable) and
//!   [`select_cancellable`](Select::select_cancellable) are ended by [cancellation and deadlines](crate::fiber#stopping), which all else ignores.
//! - A [`Select`] stays on its thread.
//! - A channel may have any capacity, since it takes memory for messages as they come if that would be more than 64 KiB.
//! - Messages that nobody has received are dropped with the last receiver. crossbeam's bounded channels keep them until the senders are gone, too.
//! - A place that is reserved for a message which was selected, and is [yet to be sent](SelectedOperation), keeps nobody waiting: `try_send` finds the
//!   channel full and `try_recv` finds it empty, where crossbeam's wait for that message. It goes behind those that were sent meanwhile.
//! - `select! {}` waits for ever, which crossbeam does not compile, and there may be any number of arms.
//!
//! # Capacity 0 and select
//!
//! A channel of capacity 0 keeps no message: sender and receiver meet. A sender that does so by a
//! [`select!`](crate::select) or a [`Select`] makes its message only afterwards, and cannot be refused
//! any more. So a receiver that has met such a sender waits until the message is there, however long that
//! takes. It is not bound by any limit meanwhile:
//!
//! - [`recv_timeout`](Receiver::recv_timeout), [`recv_deadline`](Receiver::recv_deadline),
//!   [`select_timeout`](Select::select_timeout), [`select_deadline`](Select::select_deadline) and `default`
//!   with a time return late if the sender takes longer than the time that is left;
//! - [`recv_cancellable`](Receiver::recv_cancellable) and
//!   [`select_cancellable`](Select::select_cancellable) do not observe cancellation and deadlines;
//! - [`try_recv`](Receiver::try_recv), [`try_iter`](Receiver::try_iter),
//!   [`try_select`](Select::try_select) and `default` without a time wait as well. Inside
//!   [`no_suspend`](crate::fiber::no_suspend) they pass over such senders.
//!
//! The wait ends when the [`SelectedOperation`] is completed, which `select!` does as soon as the message
//! is evaluated, or dropped, after which the receiver goes on as if it had met nobody. If the operation is
//! forgotten, by [`mem::forget`](std::mem::forget) or in a fiber that never goes on, the receiver waits
//! for ever. crossbeam's receivers spin instead, also after a drop.
//!
//! Senders never wait in this way: a receiver that selects takes the message in the moment in which it
//! meets the sender. Nor do receivers of [`sync::mpsc`](crate::sync::mpsc), whose senders cannot select.
//!
//! # Large messages
//!
//! Messages are passed by value, crossbeam's too, and take several times their size of stack on the way, of which a fiber has less than a thread: with one
//! of 16 KiB the [default](crate::RuntimeBuilder::stack_size) may overflow, and in a debug build with one of 12 KiB. Box those that are larger
//! than a few KiB.

// Inside, [`Channel`] is what the handles of both ends share. It has a flavour: [`Buffered`](buffered::Buffered), over one of two places to
// keep messages in; [`Rendezvous`](rendezvous::Rendezvous), which keeps none; or [`Clock`](clock::Clock). `sync::mpsc` is made of them, too.

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

pub use crate::{select, select_biased};
pub use error::{
    ReadyTimeoutError, RecvError, RecvTimeoutError, SelectTimeoutError, SendCancellableError, SendError,
    SendTimeoutError, TryReadyError, TryRecvError, TrySelectError, TrySendError,
};
pub(crate) use handle_methods::{receive_methods, send_methods, sender_handle};
pub(crate) use iter::message_iterators;
pub use iter::{IntoIter, Iter, TryIter};
pub use make::{after, at, bounded, never, tick, unbounded};
pub use receiver::Receiver;
pub use select::{Select, SelectedOperation};
pub use sender::Sender;

pub(crate) use buffered::SendRefused;
pub(crate) use reason::{NotReceived, NotSent};
pub(crate) use shared::Channel;
