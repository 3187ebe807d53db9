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
pub(crate) use control::{Moves, Pause};
pub(crate) use engine::{Engine, Settings};
pub(crate) use scope::ScopeData;
pub(crate) use spawn::{Attributes, Handle, Reason, Refused, spawn};
pub(crate) use tls::thread_id;
pub(crate) use wait::{current_engine, pause, running, running_fiber, wait};
pub(crate) use word::{Cause, Ends};
pub use reference::Fiber;
