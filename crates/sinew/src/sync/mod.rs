//! Synchronisation for fibers and threads: the types of [`std::sync`] under the same names, and
//! more.
//!
//! A program moves to fibers by changing its imports. A fiber that waits leaves its worker to other
//! fibers; a plain thread blocks. Both may wait for the same lock at the same time. Types that
//! never wait are std's own: [`Arc`] and the atomics are re-exported, so that one import can
//! replace the other.

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
