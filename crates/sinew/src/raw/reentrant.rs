//! A mutex that its owner may take again: the word of a mutex, whose it is, and how often. Knows no value.
//!
//! The number of the owner is read by all and needs no order: only its owner writes a number, and takes it away before it gives the
//! mutex back, so that whoever reads its own has the mutex, and whoever reads anything else does not. The count is touched by the
//! owner alone, and passed on by the mutex.

use super::RawMutex;
use crate::rt::sync::{AtomicU32, AtomicU64, Ordering, constant};
use crate::rt::{self, GaveUp, Limit};

const NOBODY: u64 = 0;

/// The mutex.
pub(crate) struct RawReentrant {
    mutex: RawMutex,
    owner: AtomicU64,
    count: AtomicU32,
}

/// The owner has it as often as can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overflow;

impl RawReentrant {
    constant! {
        pub(crate) fn new() -> Self {
            Self { mutex: RawMutex::new(), owner: AtomicU64::new(NOBODY), count: AtomicU32::new(0) }
        }
    }

    /// Takes it, if the limit is not reached before.
    ///
    /// # Errors
    ///
    /// Inside, if the limit is. Outside, if it is the caller's, and cannot be counted.
    #[inline]
    pub(crate) fn lock_within(&self, limit: Limit) -> Result<Result<(), GaveUp>, Overflow> {
        self.take(|mutex| mutex.lock_within(limit))
    }

    /// Takes it, if nobody else has it. Whether it did.
    ///
    /// # Errors
    ///
    /// If it is the caller's, and cannot be counted.
    #[inline]
    pub(crate) fn try_lock(&self) -> Result<bool, Overflow> {
        self.take(|mutex| mutex.try_lock().then_some(()).ok_or(())).map(|taken| taken.is_ok())
    }

    #[inline]
    fn take<E>(&self, lock: impl FnOnce(&RawMutex) -> Result<(), E>) -> Result<Result<(), E>, Overflow> {
        let caller = rt::caller().get();
        if self.owner.load(Ordering::Relaxed) == caller {
            let count = self.count.load(Ordering::Relaxed).checked_add(1).ok_or(Overflow)?;
            self.count.store(count, Ordering::Relaxed);
            return Ok(Ok(()));
        }
        let taken = lock(&self.mutex);
        if taken.is_ok() {
            self.owner.store(caller, Ordering::Relaxed);
            self.count.store(1, Ordering::Relaxed);
        }
        Ok(taken)
    }

    /// For its owner.
    #[inline]
    pub(crate) fn unlock(&self) {
        let count = self.count.load(Ordering::Relaxed) - 1;
        self.count.store(count, Ordering::Relaxed);
        if count == 0 {
            self.owner.store(NOBODY, Ordering::Relaxed);
            self.mutex.unlock();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Overflow, RawReentrant};
    use crate::rt::Limit;
    use std::sync::atomic::Ordering;

    #[test]
    fn it_is_counted_as_far_as_can_be() {
        let lock = RawReentrant::new();
        assert_eq!(lock.try_lock(), Ok(true));
        lock.count.store(u32::MAX - 1, Ordering::Relaxed);
        assert_eq!(lock.try_lock(), Ok(true));
        assert_eq!(lock.try_lock(), Err(Overflow));
        assert!(lock.lock_within(Limit::NEVER).is_err());
        lock.count.store(1, Ordering::Relaxed);
        lock.unlock();
        assert!(lock.mutex.try_lock());
    }
}
