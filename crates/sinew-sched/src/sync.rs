//! The one place where atomics, cells and locks come from: std, or the model checker's twins under `--cfg loom`.
//!
//! loom takes a SeqCst access for an acquire or release one. Where the order between a store and a later load of another
//! word matters, the code says so with [`full_fence`] or [`store_then_fence`].

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

/// std's cell with the interface of the checker's, which sees who is inside.
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

/// The fences that the protocols of this crate rest on. The models take each of them out in turn, and have to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fence {
    /// The owner of a deque, between announcing that it takes its newest task and looking at the top.
    Pop,
    /// A thief, between looking at the top and looking at the bottom; also between counting itself in and loading the ring.
    Steal,
    /// The owner of a deque, between replacing the ring and counting the thieves.
    Retire,
    /// A producer, between putting work where anyone can take it and looking who is idle.
    Announce,
    /// A searcher, between leaving and looking for more work.
    Leave,
    /// A worker, between lying down and looking for work.
    LieDown,
    /// A producer, between putting work into a queue and looking whether it is over.
    Submit,
    /// Whoever ends it all, between saying so and sweeping the queues.
    End,
    /// Whoever begins to drain, between saying so and telling everybody.
    Drain,
    /// A worker, between counting itself as awake and taking anything.
    Rise,
    /// A worker, between counting itself out and looking whether the pool drains.
    Fall,
    /// Whoever looks whether all is done, between looking at the queues and looking again who is awake.
    Drained,
    /// Whoever changes what a worker is there for, between that and telling it.
    Role,
}

/// A SeqCst fence.
#[cfg(not(all(loom, test)))]
#[inline]
pub(crate) fn full_fence(_: Fence) {
    fence(Ordering::SeqCst);
}

/// The models' own, which may be out.
#[cfg(all(loom, test))]
pub(crate) use crate::model::full_fence;

/// Stores, and orders the store before every later load, as a SeqCst fence after it would.
///
/// Without the checker it is one exchange, which is such a fence on x86-64 and a third of its time; elsewhere the SeqCst
/// exchange and the SeqCst load that follows keep their order.
#[inline]
pub(crate) fn store_then_fence(word: &AtomicIsize, value: isize, which: Fence) {
    if cfg!(loom) {
        word.store(value, Ordering::Release);
        full_fence(which);
    } else {
        word.swap(value, Ordering::SeqCst);
    }
}
