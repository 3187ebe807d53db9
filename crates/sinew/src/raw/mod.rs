//! Locks without the value that they protect: a word, and the queue of those who wait. Know neither poison nor guards.

mod condvar;
mod count;
mod event;
mod gate;
#[cfg(all(test, loom))]
mod model;
mod mutex;

pub(crate) use condvar::RawCondvar;
pub(crate) use count::Count;
pub(crate) use event::{RawEvent, Reset, try_wait_any, wait_any};
pub(crate) use gate::Gate;
pub(crate) use mutex::RawMutex;
