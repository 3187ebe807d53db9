//! sinew: an M:N fiber runtime, under construction.
//!
//! Fibers are threads of a program's own: each has a stack, and many of them share a few OS
//! threads. [`fiber`] has the names of [`std::thread`]; a [`Runtime`] has the workers, and one
//! starts by itself. Code is plain and blocking: a fiber that waits gives its worker to others.
//!
//! This crate is the bridge between two pillars that know nothing of each other, and the only one
//! that users import: [`coroutine`] is one of them, the scheduler's pool the other.
//!
//! # Where to look
//!
//! - Observing, shutting down and using a runtime without owning it, the default one included:
//!   [`runtime::Handle`].
//! - Settings, and the variables of the environment that have them: [`RuntimeBuilder`]; as data, to
//!   be read from a file: [`Config`]. How workers are grouped: [`Profile`]; how those of a group
//!   share fibers: [`Strategy`].
//! - The machine, and what a runtime would make of it: [`topology`].
//! - Locks, and what else to wait with: [`sync`]. Channels: [`channel`], and [`sync::mpsc`] with
//!   the names of std; to wait for several: [`select!`].
//! - Work that is done one after the other: [`work`].
//! - Sockets, with the names of std: [`net`], [`os::unix::net`]. Other descriptors, pipes, standard
//!   input and output: [`io`].
//! - Calls that block a thread: [`mod@blocking`]. Files: [`fs`].
//! - Sleeping, timers that call back, intervals: [`time`].
//! - Signals of the operating system: [`signal`].
//! - Where a fiber begins and whether it moves: [`fiber::Builder`], and [groups](fiber#groups).
//! - How work is stopped: [cancellation and deadlines](fiber#stopping). What it takes along:
//!   [`context`].
//! - Which calls let other fibers run, and what to do in a loop without any: [turns](fiber#turns).
//!
//! # Thread-locals
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
//! cases](fiber#thread-locals), with programs.
//!
//! # Output in tests
//!
//! `cargo test` captures the output of a test's own thread. Fibers run on the threads of a runtime,
//! which other tests may share, so what they print, a failed assertion's message included, goes
//! straight to standard output and standard error.
//!
//! # Features
//!
//! On unless `default-features = false` turns them off:
//!
//! - `blocking`: [`mod@blocking`] and the threads for it; standard streams and
//!   [`kernel_copy`](io::kernel_copy) in [`io`]. Without it, what `net` looks up by name is looked
//!   up on the worker's thread, and a spare thread runs the other fibers meanwhile.
//! - `fs`: [`fs`] and [`os::unix::fs`]. Turns `blocking` on.
//! - `net`: [`net`], [`os::unix::net`] and `os::linux::net`.
//! - `select`: [`select!`], [`channel::Select`] and what belongs to it.
//! - `signal`: [`signal`].
//! - `topology`: NUMA nodes, cores and control groups are read from the system. Without it, a
//!   runtime and [`topology`] take the machine for one node with the CPUs that the process may run
//!   on.
//!
//! Off unless asked for:
//!
//! - `lock_api`: [`sync`] has locks without values for that crate, in `sync::raw`.
//! - `serde`: [`Config`] can be read and written.
//! - `tracing`: a fiber that suspends takes the spans along that it has entered, and goes on inside
//!   them. Without it, a span that is held across a suspension is taken for that of whatever runs
//!   next on the thread. Fibers and timers that are made inside a span begin outside of it, as
//!   threads do: move `Span::current()` into the body, and run that by `Span::in_scope`. What they
//!   have from their maker without asking is the [context](context#logs).

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
