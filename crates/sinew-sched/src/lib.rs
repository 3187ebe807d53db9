//! The second pillar of sinew: worker threads and the queues between them. Knows no fibers, no stacks, no epoll.
//!
//! A [`Pool`] runs [`TaskRef`]s: a pointer to a header with two functions, run and discard. Tasks that anyone may run wait
//! in a deque per worker, newest first, where idle workers steal, and in a queue for all. Tasks that must run on a given
//! worker go to its [`Core`], which shares nothing but an inbox. A worker without work searches for a moment and then
//! sleeps in its [`Driver`]; the protocol by which no wake-up is lost is in `src/idle/README.md`, with its proof.
//!
//! A task that panics is over, and nothing else is: the panic hook tells about it, and it is counted in
//! [`WorkerStats::panics`]. Whoever waits for its result has to notice by itself.
//!
//! A [`Core`] can be driven without a pool, by somebody else's loop.
//!
//! What machine this is, and how workers are grouped for it, is for the crate `sinew-topology` to
//! say, re-exported as [`topology`].

mod clock;
mod core;
mod driver;
mod group;
mod idle;
mod inbox;
mod lifecycle;
mod mailbox;
#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, not(loom)))]
#[path = "../tests/it/mute.rs"]
mod mute;
mod pool;
mod pool_shared;
mod prefetch;
mod queue;
mod stats;
mod strategy;
mod sync;
mod task;
mod thread;
mod tls;
mod unwind;
mod worker;

pub use core::{Core, CoreHandle};
pub use driver::{Driver, FutexDriver};
pub use pool::{
    BuildError, Builder, Handle, Placement, Pool, Refusal, ShutdownReport, StuckWorker, SubmitError,
};
#[doc(hidden)]
pub use prefetch::prefetch;
pub use sinew_topology::{self as topology, CpuSet, Profile, Topology};
pub use stats::{PoolStats, WorkerState, WorkerStats};
pub use strategy::{ParseStrategyError, Strategy};
pub use task::{Context, Header, TaskRef, Vtable};
#[doc(hidden)]
pub use thread::spawn_thread;
