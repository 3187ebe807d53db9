//! Poison: that somebody panicked while it had a lock. As std's, but for fibers that go on while their thread unwinds.

use std::sync::LockResult;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::rt;

/// Whether somebody did.
#[derive(Debug)]
pub(super) struct PoisonFlag {
    is_poisoned: AtomicBool,
}

/// What is known when a lock is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    was_unwinding: bool,
}

impl PoisonFlag {
    pub(super) const fn new() -> Self {
        Self { is_poisoned: AtomicBool::new(false) }
    }

    /// The lock is taken.
    #[inline]
    pub(super) fn enter(&self) -> Before {
        Before { was_unwinding: rt::is_unwinding() }
    }

    /// The lock is given back.
    #[inline]
    pub(super) fn leave(&self, before: Before) {
        if !before.was_unwinding && rt::is_unwinding() {
            // Relaxed: whoever takes the lock next sees it by that.
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

    /// What comes out of a lock.
    ///
    /// # Errors
    ///
    /// If somebody panicked while it had it.
    #[inline]
    pub(super) fn wrap<T>(&self, value: T) -> LockResult<T> {
        if self.get() { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}

/// Changes what is in a result of a lock, whether poisoned or not.
///
/// # Errors
///
/// As before.
#[inline]
pub(super) fn map<T, U>(result: LockResult<T>, change: impl FnOnce(T) -> U) -> LockResult<U> {
    match result {
        Ok(value) => Ok(change(value)),
        Err(poisoned) => Err(PoisonError::new(change(poisoned.into_inner()))),
    }
}
