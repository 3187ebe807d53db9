//! The bridge: fibers made of coroutines and tasks. Knows none of the public names.

mod blocks;
mod cell;
mod control;
mod counters;
mod driver;
mod engine;
mod ids;
mod join;
mod local;
mod reference;
mod run;
mod scope;
mod spawn;
mod sync;
mod timer;
mod tls;
mod unwind;
mod wait;
mod waiter;
mod word;

pub use cell::Discarded;
pub(crate) use cell::Outcome;
pub(crate) use control::{Control, Moves, Pause, Status};
pub(crate) use engine::{Engine, Settings};
pub(crate) use scope::ScopeData;
pub(crate) use spawn::{Attributes, Handle, Reason, Refused, Spawned, spawn};
pub(crate) use tls::thread_id;
pub(crate) use wait::{current_engine, pause, running, running_reference, wait};
pub(crate) use waiter::Waiter;
pub(crate) use word::{Cause, Ends};
pub(crate) use reference::FiberRef;
