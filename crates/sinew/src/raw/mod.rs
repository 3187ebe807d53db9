//! Locks without the value that they protect: a word, and the queue of those who wait. Know neither poison nor guards.

mod condvar;
#[cfg(all(test, loom))]
mod model;
mod mutex;

pub(crate) use condvar::RawCondvar;
pub(crate) use mutex::RawMutex;
