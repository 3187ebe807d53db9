//! Poisoning: records that a caller panicked while it held a lock. As in std, but it also works for
//! fibers that run while their thread unwinds.

use std::sync::LockResult;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::rt;

/// Records whether a holder of the lock panicked.
#[derive(Debug)]
pub(super) struct PoisonFlag {
    is_poisoned: AtomicBool,
}

/// What is known when a lock is acquired.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    was_unwinding: bool,
}

impl PoisonFlag {
    pub(super) const fn new() -> Self {
        Self { is_poisoned: AtomicBool::new(false) }
    }

    /// Records that the lock is acquired.
    #[inline]
    pub(super) fn enter(&self) -> Before {
        Before { was_unwinding: rt::is_unwinding() }
    }

    /// Records that the lock is released.
    #[inline]
    pub(super) fn leave(&self, before: Before) {
        if !before.was_unwinding && rt::is_unwinding() {
            // Relaxed: the lock itself makes this visible to the next holder.
            self.is_poisoned.store(true, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(super) fn get(&self) -> bool {
        self.is_poisoned.load(Ordering::Relaxed)
    }

    pub(super) fn clear(&self) {
        self.is_poisoned.store(false, Ordering::Relaxed);
    }

    /// Wraps a guard in the result of a lock.
    ///
    /// # Errors
    ///
    /// Returns an error if a holder of the lock panicked.
    #[inline]
    pub(super) fn wrap<T>(&self, value: T) -> LockResult<T> {
        if self.get() { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}

/// Maps the guard in the result of a lock, poisoned or not.
///
/// # Errors
///
/// Returns an error if `result` is one.
#[inline]
pub(super) fn map<T, U>(result: LockResult<T>, change: impl FnOnce(T) -> U) -> LockResult<U> {
    match result {
        Ok(value) => Ok(change(value)),
        Err(poisoned) => Err(PoisonError::new(change(poisoned.into_inner()))),
    }
}
