//! The only source of atomics and locks in this crate: std, or the model checker's types under
//! `--cfg loom`.

#[cfg(loom)]
use loom::sync;
#[cfg(not(loom))]
use std::sync;
use std::sync::{LockResult, PoisonError};

use self::sync::Mutex;
pub(crate) use self::sync::MutexGuard;
pub(crate) use self::sync::atomic::{AtomicPtr, AtomicUsize, Ordering, fence};

/// A mutex that ignores poison.
///
/// The value is consistent at each point under the lock where a panic can begin. So the next holder
/// can use it.
#[derive(Default)]
pub(crate) struct Lock<T>(Mutex<T>);

impl<T> Lock<T> {
    /// Not `const` with loom, whose mutex cannot be made in a constant.
    #[cfg(loom)]
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    #[cfg(not(loom))]
    pub(crate) const fn new(value: T) -> Self {
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
