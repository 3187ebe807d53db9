//! Fibers, under the names of [`std::thread`].
//!
//! A program that uses threads moves to fibers by changing imports: `use sinew::fiber as thread;`, and
//! [`fiber_local!`](crate::fiber_local) for `thread_local!`. What is different is said on each item, and here:
//!
//! | in `std::thread` | here |
//! | --- | --- |
//! | a thread per `spawn` | a fiber in the calling fiber's [runtime](crate::Runtime), or in the default one |
//! | [`Thread`], [`ThreadId`] | other names for [`Fiber`], [`FiberId`], which plain threads have too; a fiber's numbers and a thread's never meet |
//! | threads are interrupted to let others run | a fiber runs until it waits, yields or ends, or its [turn](#turns) is over |
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
//! What else they reach: the fibers of a [scope] have the deadline in force where it was opened,
//! unless they are to [ignore it](Scope::ignore_deadline), and are cancelled with the code that
//! opened it. Other fibers that are made inside, and the one that [`run`](crate::run) makes of its
//! body, are not stopped: set deadlines and enter tokens in there, or [ask for the
//! deadline](Builder::inherit_deadline).
//!
//! A fiber that is cancelled before it has begun still runs, since its body may have to see to what it was given: its first such call
//! fails. Cancelling one that has ended does nothing. [`Fiber`] has no `cancel`: anyone can have one, as with threads, and who may stop
//! a fiber is for whoever made it to say.
//!
//! # Turns
//!
//! No fiber is interrupted, but some calls that find what they need end the fiber's turn after a
//! number of them in a row: 1,024, or 4 if they are system calls. The fiber lets others run then, and
//! goes on when it is its turn again. So a receiver whose channel is never empty does not keep its
//! neighbours from running. These calls are:
//!
//! - sends, receives and selects on all channels, including sends that never have to wait, such as
//!   those on an unbounded channel;
//! - reads, writes, accepts and other I/O, and calls of [`fs`](crate::fs);
//! - `acquire` of a [`Semaphore`](crate::sync::Semaphore), waits for an
//!   [`Event`](crate::sync::Event), a [`Notify`](crate::sync::Notify) and the like, and sleeps that
//!   are over at once.
//!
//! Locks, `park` and [`checkpoint`] are not among them. Calls named `try_` never suspend: use them
//! where a fiber holds what it must not hold across a wait, such as a lock of std or a borrowed
//! thread-local.
//!
//! Code that waits for nothing has no such end, unlike on threads: a loop that computes, that spins
//! on an atomic, or that calls `try_recv`, `try_lock` and the like until they succeed. What it
//! waits for may be up to a fiber behind it, and then it spins for ever. Call [`yield_now`] in such
//! a loop, or better a call that waits:
//!
//! ```
//! use sinew::fiber;
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! let is_ready = Arc::new(AtomicBool::new(false));
//! let seen = is_ready.clone();
//! let spins = fiber::spawn(move || {
//!     while !seen.load(Ordering::Relaxed) {
//!         fiber::yield_now(); // Without this, a runtime with one worker would hang.
//!     }
//! });
//! fiber::spawn(move || is_ready.store(true, Ordering::Relaxed));
//! spins.join().unwrap();
//! ```
//!
//! # Locks of std
//!
//! They are fine where nothing waits while one is held. A fiber that sleeps, joins, yields or [ends
//! its turn](#turns) with such a guard in its hands may have others of its worker block the thread
//! that it needs itself. Standard error [reports](crate::RuntimeBuilder::stall_report) a worker
//! that is stuck for long.
//!
//! # The end of the process
//!
//! `std::process::exit` runs the destructors of the calling thread's `thread_local!`s and the handlers of `atexit`, on the worker of the fiber that
//! calls it. If one of them waits by sinew's means, other fibers of that worker go on meanwhile. If one of those calls `exit` too, the process
//! aborts: std takes it for a call inside the first one. Nothing should wait there; a program in which something does can end itself by
//! returning from `main`, or by `exit` from a plain thread.
//!
//! # Limits on address space
//!
//! Stacks are reserved long before they take memory. In a process with a limit on address space (`ulimit -v`), they leave 64 MiB to
//! others, and fibers that find no stack wait for one. Whatever else uses up these 64 MiB ends the process with a failed allocation: choose
//! the [limit of fibers](crate::RuntimeBuilder::max_fibers) or the [size of stacks](crate::RuntimeBuilder::stack_size) to fit.
//!
//! # Who moves
//!
//! A fiber made by [`spawn`] may go to any worker until it first runs, and then stays on that one, so its body may hold values
//! that are not `Send`. Calls from plain threads work too: `park`, `sleep` and `join` block the thread then.
//!
//! # Thread-locals
//!
//! All fibers of a worker share the thread-locals of its thread. std, and crates that build on thread-locals, conclude from "one
//! thread" that calls on it return in the reverse order in which they began. With several stacks on a thread that does not hold
//! across a wait, and no stackful runtime can make it hold. The answer to all of the following is
//! [`fiber_local!`](crate::fiber_local), which gives each fiber a value of its own and is written like `thread_local!`.
//!
//! **Do not wait inside the initializer of a `thread_local!`,** nor call there what may [end a
//! turn](#turns). This is undefined behaviour, in a program without `unsafe`, and the only such
//! case that is known for std and sinew alone. While the first fiber waits there, a second one of
//! the same worker runs the initializer as well, and borrows its value. When the first one is done,
//! it replaces that value:
//!
//! ```no_run
//! use sinew::fiber;
//! use std::time::Duration;
//!
//! thread_local! {
//!     static NAME: String = {
//!         fiber::sleep(Duration::from_millis(20)); // Wrong: another fiber of this worker may get here as well.
//!         format!("made by {:?}", fiber::current().id())
//!     };
//! }
//! ```
//!
//! Wait before the first use, or wrap the use in [`no_suspend`], which turns the wait into a panic:
//!
//! ```
//! use sinew::fiber;
//! use std::time::Duration;
//!
//! thread_local! {
//!     static NAME: String = {
//!         fiber::sleep(Duration::from_millis(1));
//!         String::from("never made")
//!     };
//! }
//! sinew::run(|| {
//!     let used = std::panic::catch_unwind(|| fiber::no_suspend(|| NAME.with(String::len)));
//!     assert!(used.is_err());
//! });
//! ```
//!
//! **Do not wait inside a scoped thread-local** (of the crate `scoped-tls`, or one made the same way). The scopes of two fibers on
//! one thread do not nest: a fiber may see the value of another one, and keep it when that is gone. This is undefined behaviour
//! too, by way of the `unsafe` code of that crate:
//!
//! ```no_run
//! use sinew::fiber;
//! use std::time::Duration;
//!
//! scoped_tls::scoped_thread_local!(static CONFIG: String);
//!
//! sinew::run(|| {
//!     let other = fiber::spawn(|| {
//!         // It may find the value below, if both fibers are on one worker ...
//!         CONFIG.with(|config| {
//!             fiber::sleep(Duration::from_millis(50));
//!             println!("{config}"); // ... and use it when it was dropped.
//!         });
//!     });
//!     let config = String::from("mine");
//!     CONFIG.set(&config, || fiber::sleep(Duration::from_millis(20))); // Wrong: waits inside.
//!     drop(config);
//!     other.join().unwrap();
//! });
//! ```
//!
//! Pass the value as an argument, or in a [`Context`](crate::context::Context), which a fiber takes along.
//!
//! **Do not suspend a [coroutine](crate::coroutine) inside `with` of a thread-local if the coroutine itself is kept in a
//! thread-local.** When the thread ends, std drops one after the other. If the coroutine is the later one, unwinding it uses what is
//! gone, and std aborts the process:
//!
//! ```no_run
//! use sinew::coroutine::{Coroutine, MmapStack};
//! use std::cell::RefCell;
//!
//! thread_local! {
//!     static KEPT: RefCell<Option<Coroutine<(), (), ()>>> = const { RefCell::new(None) };
//!     static VALUE: String = String::from("dropped first");
//! }
//! KEPT.with(|_| ()); // Used first, dropped last.
//! let stack = MmapStack::new(64 * 1024)?;
//! let mut coroutine = Coroutine::new(stack, |suspender, ()| {
//!     VALUE.with(|value| {
//!         suspender.suspend(()); // Wrong: may be unwound when `VALUE` is gone.
//!         println!("{value}");
//!     });
//! });
//! coroutine.resume(());
//! KEPT.set(Some(coroutine));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Clone what the coroutine needs out of the thread-local, or take the coroutine out of its thread-local before the thread ends.
//!
//! **Do not keep a `RefCell` in a thread-local borrowed across a wait.** The next fiber of the
//! worker that borrows it panics. This is an ordinary panic, and the borrow ends when its owner
//! continues:
//!
//! ```
//! use sinew::fiber;
//! use std::cell::RefCell;
//!
//! thread_local! {
//!     static CACHE: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
//! }
//! let runtime = sinew::Runtime::builder().workers(1).start()?;
//! let neighbour_panicked = runtime.run(|| {
//!     CACHE.with_borrow_mut(|cache| {
//!         cache.push(1);
//!         // Waits for a fiber of the same worker, which finds the cache borrowed.
//!         fiber::spawn(|| CACHE.with_borrow_mut(|cache| cache.push(2))).join().is_err()
//!     })
//! });
//! assert!(neighbour_panicked);
//! # Ok::<(), sinew::StartError>(())
//! ```
//!
//! Executors of futures do the same inside: `block_on` of the crate `futures`, or of tokio, panics
//! in a fiber while a neighbour on the same worker is inside another one ("cannot execute
//! `LocalPool` executor from within another executor", "Cannot start a runtime from within a
//! runtime"). Call them from [`blocking`](crate::blocking()), which has a thread of its own for
//! each call.
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
mod join_methods;
mod local_handle;
mod local_key;
mod pin;
mod reference;
mod scoped;
mod scoped_handle;
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
pub use current::{current, current_group, is_fiber, panicking, park, park_timeout, yield_now};
pub use error::{Abandoned, Discarded, SpawnError};
pub use handle::{JoinHandle, Result};
pub use id::{FiberId, ThreadId};
pub use local_handle::LocalJoinHandle;
pub use local_key::{AccessError, LocalKey};
pub use pin::{Pin, no_suspend, pin};
pub use reference::{Fiber, Thread};
pub(crate) use scoped::open as open_scope;
pub use scoped::{Scope, scope};
pub use scoped_handle::ScopedJoinHandle;
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
