//! sinew: an M:N fiber runtime, under construction.
//!
//! Fibers are threads of a program's own: each has a stack, and many of them share a few OS threads. [`fiber`] has the names of
//! [`std::thread`]; a [`Runtime`] has the workers, and one starts by itself. Code is plain and blocking: a fiber that waits gives
//! its worker to others.
//!
//! This crate is the bridge between two pillars that know nothing of each other, and the only one that users import:
//! [`coroutine`] is one of them, the scheduler's pool the other. Locks, channels and sockets for fibers are still to come.

pub mod coroutine;
pub mod fiber;
mod rt;
mod runtime;

pub use runtime::{
    Config, LeakedFiber, Runtime, RuntimeBuilder, RuntimeStats, ShutdownReport, StartError, StuckWorker,
    WorkerFibers, run,
};

pub use sinew_sched::topology;
pub use sinew_sched::{Profile, Strategy};

/// The examples of the README are tested here.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
