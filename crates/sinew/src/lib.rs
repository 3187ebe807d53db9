//! sinew: an M:N fiber runtime.
//!
//! Fibers are threads of your own program: each has its own stack, and many of them share a few OS
//! threads. You write plain blocking code with the names of `std`. A fiber that waits lets its
//! worker run other fibers.
//!
//! ```
//! use sinew::channel::bounded;
//! use sinew::fiber;
//! use std::time::Duration;
//!
//! let sum: u64 = sinew::run(|| {
//!     let (sender, receiver) = bounded(16);
//!     for number in 0..1_000 {
//!         let sender = sender.clone();
//!         fiber::spawn(move || {
//!             fiber::sleep(Duration::from_millis(1));
//!             sender.send(number).unwrap();
//!         });
//!     }
//!     drop(sender);
//!     receiver.iter().sum()
//! });
//! assert_eq!(sum, 499_500);
//! ```
//!
//! # Where to look
//!
//! - Spawning, joining, scopes, cancellation, deadlines, fiber-locals: [`fiber`], with the names of
//!   [`std::thread`]. Which calls let other fibers run: [turns](fiber#turns). How fibers are
//!   stopped: [stopping](fiber#stopping). Where a fiber begins: [groups](fiber#groups).
//! - Locks and other types to wait with: [`sync`], with the names of `std::sync`. Channels:
//!   [`channel`], with the API of crossbeam-channel, and [`sync::mpsc`]. Waiting for several
//!   channels: [`select!`].
//! - Sockets: [`net`] and [`os::unix::net`]. Pipes, standard streams and other descriptors: [`io`].
//!   Files: [`fs`]. Calls that block a thread: [`mod@blocking`]. Signals: [`signal`].
//! - Sleeping, timers, intervals, time limits: [`time`].
//! - Work that is done one item after the other: [`work`]. Values that fibers inherit: [`context`].
//! - Runtimes: [`Runtime`] and [`RuntimeBuilder`], which lists the environment's variables.
//!   [`runtime::Handle`] observes, uses and shuts down a runtime without owning it, the default
//!   runtime included. Settings as data: [`Config`]. How workers are grouped: [`Profile`]. How the
//!   workers of a group share fibers: [`Strategy`]. The machine: [`topology`].
//! - The layer below, without a scheduler: [`coroutine`].
//!
//! # Guarantees
//!
//! - A fiber stays on the worker on which it first ran, unless `unsafe` code promises that it may
//!   move. So a fiber may hold values that are not [`Send`].
//! - Fibers may wait for one another however deep, with one worker too.
//! - Cancellation and deadlines are errors of the calls that can return them. A fiber is never
//!   unwound from outside.
//! - All calls work on plain threads too, except [`fiber::spawn_local`].
//!
//! # Limits
//!
//! Fibers share the thread-locals of the worker that they run on. [`fiber_local!`] gives each fiber
//! a value of its own, and is written like `thread_local!`.
//!
//! Safe code has one way to undefined behaviour: **a wait inside the initializer of a std
//! `thread_local!`**. While a fiber waits there, another one of the same worker runs the
//! initializer too, and borrows the value that the first one then replaces. Do not wait there:
//!
//! ```
//! use std::thread::sleep;
//! use std::time::Duration;
//!
//! thread_local! {
//!     // Sound, since this blocks the thread. `sinew::fiber::sleep`, or a lock, channel or
//!     // socket of sinew, would be wrong here.
//!     static SLOW: u32 = { sleep(Duration::from_millis(1)); 1 };
//! }
//! sinew::fiber_local! {
//!     // May wait: the value belongs to this fiber alone.
//!     static FINE: u32 = { sinew::fiber::sleep(Duration::from_millis(1)); 2 };
//! }
//! assert_eq!(sinew::run(|| SLOW.with(|one| *one) + FINE.with(|two| *two)), 3);
//! ```
//!
//! Other crates that build on thread-locals have limits of their own: [all
//! cases](fiber#thread-locals), with programs. Fibers are not preempted, and stacks do not grow.
//! Linux on x86-64 and AArch64.
//!
//! # Output in tests
//!
//! `cargo test` captures the output of a test's own thread. Fibers run on the threads of a runtime,
//! which other tests may share. So their output goes straight to standard output and standard
//! error, the message of a failed assertion included.
//!
//! # Features
//!
//! On by default; `default-features = false` turns them off:
//!
//! - `blocking`: [`mod@blocking`] and its threads, and the standard streams in [`io`]. Without it,
//!   names are resolved on the worker's thread, and a spare thread runs the other fibers meanwhile.
//! - `fs`: [`fs`], [`os::unix::fs`] and [`io::kernel_copy()`]. Turns `blocking` on.
//! - `net`: [`net`], [`os::unix::net`] and `os::linux::net`.
//! - `select`: [`select!`] and [`channel::Select`].
//! - `signal`: [`signal`].
//! - `topology`: reads NUMA nodes, cores and control groups from the system. Without it, a runtime
//!   and [`topology`] see one node with the CPUs on which the process may run.
//!
//! Off by default:
//!
//! - `lock_api`: locks without values for that crate, in `sync::raw`.
//! - `serde`: [`Config`] can be read and written.
//! - `tracing`: a fiber that suspends takes along the spans that it has entered, and continues
//!   inside them. Without it, a span that is held across a suspension also covers what runs next on
//!   the thread. Fibers and timers that are spawned inside a span begin outside of it, as threads
//!   do: move `Span::current()` into the body, and run the body by `Span::in_scope`. The
//!   [context](context#logs) is inherited.

#![cfg_attr(
    not(all(feature = "blocking", feature = "fs", feature = "net", feature = "select")),
    expect(dead_code, reason = "items that only those features use are not behind them one by one")
)]
#![cfg_attr(
    not(all(feature = "blocking", feature = "net", feature = "select")),
    expect(unused_imports, reason = "as above")
)]

#[cfg(all(feature = "blocking", not(loom)))]
pub mod blocking;
pub mod channel;
pub mod context;
pub mod coroutine;
pub mod fiber;
#[cfg(all(feature = "fs", not(loom)))]
pub mod fs;
#[cfg(not(loom))]
pub mod io;
mod launch;
mod limited;
#[cfg(all(feature = "net", not(loom)))]
pub mod net;
#[cfg(all(test, not(loom)))]
mod opening_tests;
#[cfg(not(loom))]
pub mod os;
#[cfg(all(test, not(loom)))]
mod phase_tests;
mod raw;
mod rt;
pub mod runtime;
#[cfg(all(feature = "signal", any(not(loom), test)))]
pub mod signal;
#[cfg(all(test, not(loom)))]
mod single_core_tests;
#[cfg(not(loom))]
pub mod sync;
pub mod time;
pub mod topology;
#[cfg(all(test, not(loom)))]
mod wait_reason_tests;
pub mod work;

#[cfg(all(feature = "blocking", not(loom)))]
pub use blocking::{block_in_place, blocking};
pub use runtime::{
    Config, LeakedFiber, Runtime, RuntimeBuilder, RuntimeStats, ShutdownReport, StartError, StuckWorker,
    WorkerFibers, run,
};

pub use sinew_sched::{BuildError, ParseStrategyError, Profile, Strategy};
pub use sinew_topology::ParseProfileError;

/// The examples of the README are tested here.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
