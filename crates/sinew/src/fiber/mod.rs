//! Fibers, under the names of [`std::thread`].
//!
//! A program that uses threads moves to fibers by changing imports. What is different is said on each item;
//! `Builder::spawn_scoped` is still to come. Beyond std there are [`try_spawn`], [`spawn_local`], [`spawn_steps`],
//! [`spawn_batch`], [`JoinHandle::join_timeout`] and [`is_fiber`]. Values of one fiber are declared by
//! [`fiber_local!`](crate::fiber_local).
//!
//! # Who moves
//!
//! A fiber made by [`spawn`] may go to any worker until it first runs, and then stays on that one, so its body need not
//! care about thread-locals or values that are not `Send`. Calls from plain threads work too: `park`, `sleep` and `join` block
//! the thread then.

mod batch;
mod builder;
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
mod time;

pub(crate) use batch::spawn_batch_in;
pub use batch::{spawn_batch, try_spawn_batch};
pub use builder::{Builder, Launch};
pub use current::{Fiber, current, is_fiber, panicking, park, park_timeout, yield_now};
pub use error::{Abandoned, Discarded, SpawnError};
pub use handle::{JoinHandle, Result};
pub use id::FiberId;
pub use local_handle::LocalJoinHandle;
pub use local_key::{AccessError, LocalKey};
pub use pin::{Pin, no_suspend, pin};
pub use scoped::{Scope, ScopedJoinHandle, scope};
pub(crate) use spawning::spawn_in;
pub use spawning::{available_parallelism, spawn, spawn_local, try_spawn, try_spawn_local};
pub use state::State;
pub(crate) use steps::spawn_steps_at;
pub use steps::{spawn_steps, try_spawn_steps};
pub use time::{sleep, sleep_until};
