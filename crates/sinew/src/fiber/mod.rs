//! Fibers, under the names of [`std::thread`].
//!
//! A program that uses threads moves to fibers by changing imports: `use sinew::fiber as thread;`, and
//! [`fiber_local!`](crate::fiber_local) for `thread_local!`. What is different is said on each item, and here:
//!
//! | in `std::thread` | here |
//! | --- | --- |
//! | a thread per `spawn` | a fiber in the calling fiber's [runtime](crate::Runtime), or in the default one |
//! | [`Thread`], [`ThreadId`] | other names for [`Fiber`], [`FiberId`], which plain threads have too; a fiber's numbers and a thread's never meet |
//! | threads are interrupted to let others run | a fiber runs until it waits, yields or ends |
//! | what blocks, blocks one thread | what is not sinew's (locks, channels, sockets and `sleep` of std, system calls) blocks a worker, and all fibers that have begun there; [`blocking`](crate::blocking()) has other threads do it |
//! | a stack of 2 MiB, `RUST_MIN_STACK` | 128 KiB, double that in debug builds, [`RuntimeBuilder::stack_size`](crate::RuntimeBuilder::stack_size), `SINEW_STACK_SIZE` |
//! | `Builder::name` | any string, as it names no thread |
//! | `Builder::spawn_unchecked` | a fiber that is abandoned at a shutdown never ends: what it borrows has to live on |
//! | `available_parallelism` | the number of workers |
//! | the end of `main` | ends fibers too, where they are |
//! | a thread-local's destructor that panics | is the fiber's panic, which comes out of `join`; threads abort |
//! | `JoinHandleExt` and the like of `std::os` | not there: no thread belongs to a fiber |
//! | `park_timeout_ms`, `sleep_ms` | not there: std has deprecated them |
//!
//! Beyond std there are [`try_spawn`], [`spawn_local`], [`spawn_steps`], [`spawn_batch`], [`JoinHandle::join_timeout`],
//! [`sleep_until`], [`is_fiber`], [`Launch`], [`State`], [`no_suspend`]; for fibers that move, [`Builder::migratable`] and [`fn@pin`];
//! and for [groups](#groups), [`current_group`], [`Builder::group`], [`Builder::any_group`] and [`Builder::group_local`].
//!
//! # Stopping
//!
//! Nobody is stopped by force: cancellation and deadlines are errors, [`Stopped`], of calls that can say so. Those are [`checkpoint`],
//! the waits whose names end in `_cancellable`, and input and output ([`net`](crate::net), [`io`](crate::io), [`fs`](crate::fs)), where the error is inside an `io::Error`; `join`, `sleep`, `park` and
//! the like of std go on to their end. [`shield`] has neither count: what has to be written in the end, such as by a destructor that flushes, goes in there.
//!
//! - A fiber is cancelled by [`JoinHandle::cancel`], with all fibers of the [scopes](scope) that it is in the middle of, and of theirs.
//! - [`Scope::cancel`] cancels the fibers of a scope; in a [`try_scope`] so does the first error or panic. A scope whose body panics
//!   cancels its fibers too.
//! - A [`CancelToken`] cancels whatever code has [entered](CancelToken::run) it, in fibers and plain threads.
//! - [`with_deadline`] says until when its body may take, [`time::timeout`](crate::time::timeout) for how long.
//!
//! Who else hears of it: the fibers of a scope are cancelled with whoever opened it, by tokens too; a deadline is for fibers that
//! [ask for it](Builder::inherit_deadline). Other fibers that are made inside go their own way, and so does the one that
//! [`run`](crate::run) makes of its body: set deadlines and enter tokens in there.
//!
//! A fiber that is cancelled before it has begun still runs, since its body may have to see to what it was given: its first such call
//! fails. Cancelling one that has ended does nothing. [`Fiber`] has no `cancel`: anyone can have one, as with threads, and who may stop
//! a fiber is for whoever made it to say.
//!
//! # Locks of std
//!
//! They are fine where nothing waits while one is held. A fiber that sleeps, joins or yields with such a guard in its hands may have
//! others of its worker block the thread that it needs itself. If that stops every worker, standard error
//! [says so](crate::RuntimeBuilder::stall_report).
//!
//! # Who moves
//!
//! A fiber made by [`spawn`] may go to any worker until it first runs, and then stays on that one, so its body need not
//! care about thread-locals or values that are not `Send`. Calls from plain threads work too: `park`, `sleep` and `join` block
//! the thread then.
//!
//! What a fiber must not do is to wait inside the initializer of a std `thread_local!`: another fiber of its worker that comes there meanwhile runs it
//! too, and the value of the first is dropped when the second is done, though it may be borrowed. std does not expect two at once on one thread.
//! [`fiber_local!`](crate::fiber_local) and [`sync::LazyLock`](crate::sync::LazyLock) do.
//!
//! # Groups
//!
//! The workers of a runtime are in [groups](crate::RuntimeBuilder::groups), numbered from 0. A fiber begins in the group of the fiber that
//! makes it; one made by a plain thread, in any. If all workers of its group are busy, another group of the same NUMA node may take it
//! before it has begun.
//!
//! [`Builder::group`] and [`Builder::any_group`] choose another group to begin in; of the two, the later call counts.
//! [`Builder::group_local`] keeps the fiber there. Its children are not bound by it: they begin there, as any fiber's do, and may be
//! taken.

mod batch;
mod builder;
mod cancellable;
mod current;
mod error;
mod handle;
mod id;
mod local_handle;
mod local_key;
mod pin;
mod scoped;
mod spawning;
mod state;
mod steps;
mod stop;
mod stopped;
mod time;
mod token;
mod try_scoped;

pub(crate) use batch::spawn_batch_in;
pub use batch::{spawn_batch, try_spawn_batch};
pub use builder::{Builder, Launch};
pub use cancellable::{
    JoinStopped, park_cancellable, park_timeout_cancellable, sleep_cancellable, sleep_until_cancellable,
};
pub use current::{
    Fiber, Thread, current, current_group, is_fiber, panicking, park, park_timeout, yield_now,
};
pub use error::{Abandoned, Discarded, SpawnError};
pub use handle::{JoinHandle, Result};
pub use id::{FiberId, ThreadId};
pub use local_handle::LocalJoinHandle;
pub use local_key::{AccessError, LocalKey};
pub use pin::{Pin, no_suspend, pin};
pub use scoped::{Scope, ScopedJoinHandle, scope};
pub use spawning::{available_parallelism, spawn, spawn_local, try_spawn, try_spawn_local};
pub(crate) use spawning::{spawn_at, spawn_in};
pub use state::State;
pub(crate) use steps::spawn_steps_at;
pub use steps::{spawn_steps, try_spawn_steps};
pub use stop::{checkpoint, deadline, is_cancelled, shield, with_deadline};
pub use stopped::Stopped;
pub use time::{sleep, sleep_until};
pub use token::CancelToken;
pub use try_scoped::try_scope;
