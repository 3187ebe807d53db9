//! Locks and what else to wait with, for fibers and threads alike: the types of [`std::sync`] under their names, and more.
//!
//! A program moves to fibers by changing imports. A fiber that waits gives its worker to others, a plain thread blocks, and both may
//! wait for the same lock at once. What std does not lock or wait with is std's own: [`Arc`] and atomics are used
//! as they are, and are here too, so that one import can replace another.

mod barrier;
mod baton;
mod blocking_queue;
mod condvar;
mod event;
mod guards;
mod latch;
mod lazy_lock;
pub mod mpsc;
mod mutex;
mod mutex_mapped;
mod notify;
mod once;
mod once_lock;
mod plain;
mod poison;
#[cfg(feature = "lock_api")]
pub mod raw;
mod reentrant_lock;
mod rwlock;
mod rwlock_guards;
mod rwlock_mapped;
mod semaphore;
mod seq_lock;
mod wait_group;
mod words;

pub use barrier::{ArrivalToken, Barrier, BarrierWaitResult};
pub use baton::Baton;
pub use blocking_queue::{
    BlockingQueue, BlockingQueueIter, BlockingQueueTryIter, PopError, PushError, TryPopError, TryPushError,
};
pub use condvar::{Condvar, WaitTimeoutResult};
pub use event::Event;
pub use latch::Latch;
pub use lazy_lock::LazyLock;
pub use mutex::{Mutex, MutexGuard};
pub use mutex_mapped::MappedMutexGuard;
pub use notify::Notify;
#[expect(deprecated, reason = "std has it")]
pub use once::ONCE_INIT;
pub use once::{Once, OnceState};
pub use once_lock::OnceLock;
pub use plain::Plain;
pub use reentrant_lock::{ReentrantLock, ReentrantLockGuard};
pub use rwlock::RwLock;
pub use rwlock_guards::{RwLockReadGuard, RwLockWriteGuard};
pub use rwlock_mapped::{MappedRwLockReadGuard, MappedRwLockWriteGuard};
pub use semaphore::{AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError};
pub use seq_lock::{SeqLock, SeqLockWriteGuard};
pub use wait_group::{WaitGroup, WaitGroupGuard};

pub use std::sync::atomic;
pub use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult, Weak};
