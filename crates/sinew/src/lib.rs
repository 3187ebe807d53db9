//! sinew: an M:N fiber runtime, under construction.
//!
//! This crate is the bridge between two pillars that know nothing of each other, and the only one that users
//! import. Today it has the first pillar, in [`coroutine`]; fibers, the scheduler and everything above them are still to
//! come.

pub mod coroutine;
pub mod fiber;
mod rt;
mod runtime;

pub use runtime::{
    LeakedFiber, Runtime, RuntimeBuilder, RuntimeStats, ShutdownReport, StartError, StuckWorker,
    WorkerFibers, run,
};

/// The examples of the README are tested here.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
