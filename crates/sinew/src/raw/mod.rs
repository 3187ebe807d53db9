//! Locks without the value that they protect: a word, and the queue of those who wait. Know neither poison nor guards.

mod barrier;
mod condvar;
mod count;
mod event;
mod gate;
#[cfg(all(test, loom))]
pub(crate) mod model;
mod mutex;
mod once;
mod reentrant;
mod rwlock;
mod seq_lock;

pub(crate) use barrier::{Arrival, ArrivalRefused, Completion, RawBarrier};
pub(crate) use condvar::RawCondvar;
pub(crate) use count::RawCount;
pub(crate) use event::{RawEvent, Reset, try_wait_any, wait_any};
pub(crate) use gate::RawGate;
pub(crate) use mutex::RawMutex;
pub(crate) use once::{OnceBegun, OnceEnd, OnceFailure, OnceSeen, RawOnce};
pub(crate) use reentrant::RawReentrant;
pub(crate) use rwlock::RawRwLock;
pub(crate) use seq_lock::RawSeqLock;

// Nothing panics while the lock of a queue is held, so that nobody sees a broken one.
impl std::panic::RefUnwindSafe for RawMutex {}
impl std::panic::RefUnwindSafe for RawRwLock {}
