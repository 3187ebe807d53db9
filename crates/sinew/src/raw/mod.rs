//! Locks without the value that they protect: a word, and the queue of those who wait. Know neither poison nor guards.

mod condvar;
mod mutex;

pub(crate) use condvar::RawCondvar;
pub(crate) use mutex::RawMutex;
