//! The one source of atomics, cells and locks: std, or the model checker's versions under `--cfg
//! loom`.
//!
//! loom treats a SeqCst access as an acquire or release one. Where the order between a store and a
//! later load of another word matters, the code uses [`full_fence`] or [`store_then_fence`].

#[cfg(loom)]
pub(crate) use loom::cell::UnsafeCell;
#[cfg(loom)]
use loom::sync;
#[cfg(not(loom))]
use std::sync;
use std::sync::{LockResult, PoisonError};

pub(crate) use self::sync::atomic::{AtomicIsize, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};
pub(crate) use self::sync::{Arc, Condvar};
use self::sync::{Mutex, MutexGuard};

/// std's cell with the interface of the checker's, which detects accesses at the same time.
#[cfg(not(loom))]
#[derive(Debug)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    #[inline]
    pub(crate) fn with<R>(&self, look: impl FnOnce(*const T) -> R) -> R {
        look(self.0.get())
    }

    #[inline]
    pub(crate) fn with_mut<R>(&self, change: impl FnOnce(*mut T) -> R) -> R {
        change(self.0.get())
    }
}

/// A mutex that ignores poison.
///
/// The value is consistent at each point under the lock where a user's code (a hook, a closure, a
/// destructor) can unwind. So the next holder can use it after a panic.
#[derive(Debug, Default)]
pub(crate) struct Lock<T>(Mutex<T>);

impl<T> Lock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        ignore_poison(self.0.lock())
    }
}

/// Returns the guard of a lock, poisoned or not, for the reason that [`Lock`] gives.
#[inline]
pub(crate) fn ignore_poison<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}

/// The fences that the protocols of this crate rely on. The models remove each of them in turn, and
/// then have to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fence {
    /// The owner of a deque, between announcing that it takes its newest task and reading the top.
    Pop,
    /// A thief, between reading the top and reading the bottom; also between counting itself in and
    /// loading the ring.
    Steal,
    /// The owner of a deque, between replacing the ring and counting the thieves.
    Retire,
    /// A producer, between putting work where any worker can take it and reading who is idle.
    Announce,
    /// A searcher, between leaving and looking for more work.
    Leave,
    /// A worker, between lying down and looking for work.
    LieDown,
    /// A producer, between putting work into a queue and reading whether the pool is over.
    Submit,
    /// The thread that ends the pool, between storing that and sweeping the queues.
    End,
    /// The thread that begins a drain, between storing that and waking all workers.
    Drain,
    /// A worker, between counting itself as awake and taking anything.
    Rise,
    /// A worker, between counting itself out and checking whether the pool drains.
    Fall,
    /// The thread that checks whether all is done, between reading the queues and reading again who
    /// is awake.
    Drained,
    /// The thread that changes a worker's role, between that and telling the worker.
    Role,
}

/// Issues a SeqCst fence.
#[cfg(not(all(loom, test)))]
#[inline]
pub(crate) fn full_fence(_: Fence) {
    fence(Ordering::SeqCst);
}

/// The version of the models, which can remove a fence.
#[cfg(all(loom, test))]
pub(crate) use crate::model::full_fence;

/// Stores, and orders the store before every later load, as a SeqCst fence after it would.
///
/// Without the checker this is one SeqCst exchange. On x86-64 the exchange is such a fence, and
/// takes a third of its time; elsewhere, the SeqCst exchange and the SeqCst load that follows keep
/// their order.
#[inline]
pub(crate) fn store_then_fence(word: &AtomicIsize, value: isize, which: Fence) {
    if cfg!(loom) {
        word.store(value, Ordering::Release);
        full_fence(which);
    } else {
        word.swap(value, Ordering::SeqCst);
    }
}
