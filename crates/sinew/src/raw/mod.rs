//! Locks without the values that they protect: an atomic word and a queue of waiters. They know
//! neither poisoning nor guards.

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

// Nothing panics while the lock of a queue is held, so no caller sees a queue in a broken state.
impl std::panic::RefUnwindSafe for RawMutex {}
impl std::panic::RefUnwindSafe for RawRwLock {}
