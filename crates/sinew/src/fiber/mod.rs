//! Fibers, under the names of [`std::thread`].
//!
//! A program that uses threads moves to fibers by changing imports: `use sinew::fiber as thread;`,
//! and [`fiber_local!`](crate::fiber_local) in place of `thread_local!`. Each item states how it
//! differs from its counterpart in std. The main differences are:
//!
//! | in `std::thread` | here |
//! | --- | --- |
//! | a thread per `spawn` | a fiber per `spawn`, in the calling fiber's [runtime](crate::Runtime) or in the default one |
//! | [`Thread`], [`ThreadId`] | aliases of [`Fiber`], [`FiberId`], which plain threads have too; a fiber and a thread never have the same id |
//! | threads are interrupted to let others run | a fiber runs until it waits, yields or ends, or its [turn](#turns) is over |
//! | a blocking call blocks one thread | a blocking call that is not sinew's (a lock, channel, socket or `sleep` of std, a system call) blocks its worker and all fibers that have begun there; [`blocking`](crate::blocking()) runs such a call on another thread |
//! | a stack of 2 MiB, `RUST_MIN_STACK` | 128 KiB, double that in debug builds, [`RuntimeBuilder::stack_size`](crate::RuntimeBuilder::stack_size), `SINEW_STACK_SIZE` |
//! | `Builder::name` | a name of any length, because it is not passed to the operating system |
//! | `Builder::spawn_unchecked` | a fiber that is abandoned at a shutdown never ends: what it borrows must stay alive for ever |
//! | `available_parallelism` | the number of workers |
//! | the process ends when `main` returns | the same: fibers that have not ended are stopped where they are |
//! | a panic in the destructor of a thread-local aborts | a panic in the destructor of a fiber-local is the fiber's panic, which `join` returns |
//! | `JoinHandleExt` and similar traits of `std::os` | missing: no thread belongs to a fiber |
//! | `park_timeout_ms`, `sleep_ms` | missing: std has deprecated them |
//!
//! These items have no counterpart in std: [`try_spawn`], [`spawn_local`], [`spawn_steps`],
//! [`spawn_batch`], [`JoinHandle::join_timeout`], [`sleep_until`], [`is_fiber`], [`Launch`],
//! [`State`] and [`no_suspend`]; for fibers that migrate, [`Builder::migratable`] and [`fn@pin`];
//! for [groups](#groups), [`current_group`], [`Builder::group`], [`Builder::any_group`] and
//! [`Builder::group_local`].
//!
//! # Stopping
//!
//! No fiber is stopped by force. Cancellation and deadlines make calls return an error,
//! [`Stopped`]. These calls observe them: [`checkpoint`], the waits whose names end in
//! `_cancellable`, and I/O ([`net`](crate::net), [`io`](crate::io), [`fs`](crate::fs)), where the
//! error is inside an `io::Error`. The functions that std has too, such as `join`, `sleep` and
//! `park`, ignore both. Inside [`shield`] no call observes them: use it for work that must be
//! completed, such as a destructor that flushes.
//!
//! - [`JoinHandle::cancel`] cancels a fiber, and all fibers of the [scopes](scope) that it has
//!   open, and of their scopes.
//! - [`Scope::cancel`] cancels the fibers of a scope. They are also cancelled when the scope's body
//!   panics.
//! - A [`try_scope`] also cancels its fibers when its body returns an error, and when one of its
//!   fibers panics. An error that a fiber returns cancels nothing, unless the body returns it in
//!   turn.
//! - A [`CancelToken`] cancels all code that has [entered](CancelToken::run) it, in fibers and
//!   plain threads.
//! - [`with_deadline`] sets a moment by which its body has to end,
//!   [`time::timeout`](crate::time::timeout) a time that it may take.
//!
//! The fibers of a [scope] inherit the deadline in force where the scope was opened, unless it
//! [ignores deadlines](Scope::ignore_deadline), and they are cancelled with the code that opened
//! it. Other fibers are not stopped with the code that spawned them; neither is the fiber that
//! [`run`](crate::run) spawns for its body. Set deadlines and enter tokens in their bodies, or
//! [inherit the deadline](Builder::inherit_deadline).
//!
//! A fiber that is cancelled before it has begun still runs, because its body may have to clean up
//! what it was given: its first observing call fails. Cancelling a fiber that has ended does
//! nothing. [`Fiber`] has no `cancel` method: any code can get such a handle, as with threads, and
//! only the owner of the [`JoinHandle`] decides who may stop the fiber.
//!
//! # Turns
//!
//! No fiber is interrupted. But some calls end the fiber's turn when they have succeeded without
//! waiting a number of times in a row: 1,024, or 4 if they are system calls. The fiber then yields
//! to other fibers, and continues at its next turn. So a receiver whose channel is never empty does
//! not keep its neighbours from running. These calls are:
//!
//! - sends, receives and selects on all channels, including sends that never have to wait, such as
//!   those on an unbounded channel;
//! - reads, writes, accepts and other I/O, and calls of [`fs`](crate::fs);
//! - `acquire` of a [`Semaphore`](crate::sync::Semaphore), waits for an
//!   [`Event`](crate::sync::Event), a [`Notify`](crate::sync::Notify) and the like, and sleeps that
//!   are over at once.
//!
//! Locks, `park` and [`checkpoint`] do not end a turn. Calls named `try_` never suspend: use them
//! where a fiber holds something that it must not hold across a wait, such as a guard of a std lock
//! or a borrowed thread-local.
//!
//! Code that makes no such call has no end of its turn, unlike on threads: a loop that computes,
//! that spins on an atomic, or that calls `try_recv`, `try_lock` and the like until they succeed.
//! The fiber that it waits for may be queued behind it on the same worker; the loop then never
//! ends. Call [`yield_now`] in such a loop, or better a call that waits:
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
//! Locks of std are fine where a fiber does not wait while it holds one. If a fiber sleeps, joins,
//! yields or [ends its turn](#turns) while it holds such a guard, another fiber of its worker may
//! block the worker's thread on the same lock. The first fiber then cannot run to release it.
//! Standard error [reports](crate::RuntimeBuilder::stall_report) a worker that is stuck for long.
//!
//! # The end of the process
//!
//! `std::process::exit` runs the destructors of the calling thread's `thread_local!`s and the
//! handlers of `atexit`, on the worker of the fiber that calls it. If one of them waits by a call
//! of sinew, other fibers of that worker run meanwhile. If one of those calls `exit` too, the
//! process aborts, because std takes it for a call inside the first one. Destructors and handlers
//! should not wait. A program in which one does can return from `main` instead, or call `exit` on a
//! plain thread.
//!
//! # Limits on address space
//!
//! Address space for stacks is reserved long before it takes memory. In a process with a limit on
//! address space (`ulimit -v`), the stacks leave 64 MiB free for other uses, and a fiber that finds
//! no stack waits for one. If other allocations use up these 64 MiB, the next one fails and ends
//! the process. Choose the [limit of fibers](crate::RuntimeBuilder::max_fibers) or the [size of
//! stacks](crate::RuntimeBuilder::stack_size) to fit.
//!
//! # Migration
//!
//! A fiber that [`spawn`] creates may begin on any worker of the runtime, and then stays on that
//! worker. So its body may hold values that are not `Send`. It moves later only if it
//! is [migratable](Builder::migratable), or between the steps of [`spawn_steps`]. `park`, `sleep`
//! and `join` also work on plain threads, and block the thread there.
//!
//! # Thread-locals
//!
//! All fibers of a worker share the thread-locals of its thread. std, and crates that build on
//! thread-locals, assume that calls on one thread return in the reverse order in which they began.
//! With several stacks on a thread this does not hold across a wait, and no stackful runtime can
//! make it hold. The answer to all of the following cases is [`fiber_local!`](crate::fiber_local),
//! which gives each fiber a value of its own and is written like `thread_local!`.
//!
//! **Do not wait inside the initializer of a `thread_local!`,** nor call a function there that may
//! [end a turn](#turns). This is undefined behaviour in a program without `unsafe`, and the only
//! such case that is known for std and sinew alone. While the first fiber waits in the initializer,
//! a second fiber of the same worker runs it too, and borrows its value. When the first fiber's
//! initializer returns, it replaces that value:
//!
//! ```no_run
//! use sinew::fiber;
//! use std::time::Duration;
//!
//! thread_local! {
//!     static NAME: String = {
//!         fiber::sleep(Duration::from_millis(20)); // Wrong: another fiber may get here too.
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
//! **Do not wait inside a scoped thread-local** (of the crate `scoped-tls`, or of a similar crate).
//! The scopes of two fibers on one thread do not nest: a fiber may see the value of another fiber,
//! and still use it after it was dropped. This is undefined behaviour too, caused by the `unsafe`
//! code of that crate:
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
//!             println!("{config}"); // ... and use it after it was dropped.
//!         });
//!     });
//!     let config = String::from("mine");
//!     CONFIG.set(&config, || fiber::sleep(Duration::from_millis(20))); // Wrong: waits inside.
//!     drop(config);
//!     other.join().unwrap();
//! });
//! ```
//!
//! Pass the value as an argument, or in a [`Context`](crate::context::Context), which fibers
//! inherit.
//!
//! **Do not suspend a [coroutine](crate::coroutine) inside `with` of a thread-local if the
//! coroutine itself is kept in a thread-local.** When the thread ends, std drops its thread-locals
//! one after the other. If the coroutine is dropped later than the value, unwinding it uses the
//! value after its end, and std aborts the process:
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
//!         suspender.suspend(()); // Wrong: may be unwound after `VALUE` was dropped.
//!         println!("{value}");
//!     });
//! });
//! coroutine.resume(());
//! KEPT.set(Some(coroutine));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Clone what the coroutine needs from the thread-local, or take the coroutine out of its
//! thread-local before the thread ends.
//!
//! **Do not keep a `RefCell` in a thread-local borrowed across a wait.** The next fiber of the
//! worker that borrows it panics. This is an ordinary panic; the borrow ends when the first fiber
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
//! Executors of futures borrow thread-locals in this way. `block_on` of the crate `futures`, or of
//! tokio, panics in a fiber while another fiber of the same worker is inside `block_on` ("cannot
//! execute `LocalPool` executor from within another executor", "Cannot start a runtime from within
//! a runtime"). Call it inside [`blocking`](crate::blocking()), which runs each call on a thread of
//! its own.
//!
//! # Groups
//!
//! The workers of a runtime are divided into [groups](crate::RuntimeBuilder::groups), whose numbers
//! start at 0. A fiber begins in the group of the fiber that spawns it. A fiber that a plain thread
//! spawns may begin in any group. If all workers of its group are busy, another group of the same
//! NUMA node may take a fiber that has not begun.
//!
//! [`Builder::group`] and [`Builder::any_group`] choose another group to begin in; of the two, the
//! later call counts. [`Builder::group_local`] keeps the fiber in that group. This does not bind
//! its children: like all fibers they begin in their parent's group, and another group may take
//! them.

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
