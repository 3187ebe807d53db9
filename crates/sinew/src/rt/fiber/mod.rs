//! Fibers: how they are made, run, joined, cancelled and ended, and the state that the fibers of
//! one runtime share. Knows neither threads nor descriptors.

pub(super) mod batch;
mod block;
mod body;
pub(super) mod callback_fiber;
mod cancel;
pub(super) mod cell;
pub(super) mod census;
pub(super) mod close_listeners;
pub(super) mod handle;
pub(super) mod host;
mod limit;
pub(super) mod panic_hook;
mod roster;
pub(super) mod run;
pub(super) mod scope;
#[cfg(feature = "tracing")]
pub(super) mod spans;
#[cfg(not(feature = "tracing"))]
#[path = "no_spans.rs"]
pub(super) mod spans;
pub(super) mod spawn;
mod stacks;
pub(super) mod starving;
pub(super) mod steps;
pub(super) mod switch_hooks;
mod task;
pub(super) mod teardown;
pub(super) mod worker_state;

pub(super) use callback_fiber::CallbackFiber;
pub(super) use census::{BegunFiber, Leak};
pub(super) use host::{Fates, FiberHost, HostSettings};
pub(super) use spawn::Site;
pub(super) use worker_state::{WorkerSpec, WorkerState};
