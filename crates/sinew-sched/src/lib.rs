//! A work-stealing task pool: worker threads in groups, the queues between them, and an idle
//! protocol that loses no wake-up. The second pillar of sinew; knows no fibers, no stacks and no
//! epoll.
//!
//! A [`Pool`] runs tasks. A task is a [`TaskRef`]: a pointer to a [`Header`] with two functions,
//! one that runs the task and one that discards it. [`TaskRef::new`] makes one of a closure.
//!
//! ```
//! use sinew_sched::{Placement, Pool, TaskRef};
//! use std::sync::mpsc;
//!
//! let pool = Pool::builder().workers(2).build()?;
//! let (sender, receiver) = mpsc::channel();
//! for number in 1..=10_u64 {
//!     let sender = sender.clone();
//!     let task = TaskRef::new(move |_| sender.send(number * number).unwrap());
//!     pool.handle().submit(task, Placement::Anyone).unwrap();
//! }
//! drop(sender);
//! assert_eq!(receiver.iter().sum::<u64>(), 385);
//! assert!(pool.shutdown(None).drained);
//! # Ok::<(), sinew_sched::BuildError>(())
//! ```
//!
//! # Where to look
//!
//! - [`Pool::builder`] has the settings: workers and groups, NUMA nodes, hooks, drivers, the clock.
//! - [`Handle`] submits tasks from any thread, to any worker, to a group or to one worker
//!   ([`Placement`]).
//! - [`Context`] is what a running task is given: it submits more tasks, yields, or blocks.
//! - [`Strategy`] chooses how the workers of a group share tasks.
//! - [`Driver`] is what a worker sleeps in. Implement it to wait for events of the kernel;
//!   [`FutexDriver`] is the default and waits for no events.
//! - [`Core`] is one thread's queue of tasks without a pool, for a loop of your own.
//! - [`topology`] is the crate `sinew-topology`. It reads the CPUs and nodes of the machine and
//!   plans groups for them.
//!
//! Tasks that any worker may run wait in one deque per worker, newest first, where idle workers
//! steal, and in one queue per group. Tasks that must run on a given worker go to its core, which
//! shares nothing but an inbox. A worker without work searches for a moment and then sleeps in its
//! driver.
//!
//! # Features
//!
//! The crate has no Cargo features.
//!
//! # Guarantees
//!
//! - Each submitted task is run once or discarded once.
//! - No wake-up is lost: work never waits while every worker that could run it sleeps.
//!   `src/idle/README.md` has the protocol and its proof; models check it under loom.
//! - An idle pool uses no processor time.
//! - A panic ends only the task that panics. The panic hook reports it, and [`WorkerStats::panics`]
//!   counts it. A caller that waits for the task's result has to detect this itself.
//!
//! # Limits
//!
//! - Linux only.
//! - A group has at most 64 workers, a pool at most 1024 groups.
//! - A task that has begun is never interrupted. A task that blocks its thread keeps its worker
//!   from other tasks, unless it calls [`Context::block`].

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
