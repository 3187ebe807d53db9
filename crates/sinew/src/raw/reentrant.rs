//! A mutex that its owner may acquire again: the word of a mutex, the number of its owner, and a
//! count. Knows no value.
//!
//! All callers read the owner's number, which needs no ordering. Each owner writes only its own
//! number, and clears it before it releases the mutex. So a caller that reads its own number owns
//! the mutex, and a caller that reads another value does not. Only the owner accesses the count,
//! and the mutex passes it on.

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

/// The owner has acquired it as often as can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overflow;

impl RawReentrant {
    constant! {
        pub(crate) fn new() -> Self {
            Self { mutex: RawMutex::new(), owner: AtomicU64::new(NOBODY), count: AtomicU32::new(0) }
        }
    }

    /// Acquires the mutex, if the limit is not reached first.
    ///
    /// # Errors
    ///
    /// Fails if the caller owns the mutex and the count would overflow. The inner result is an
    /// error if the limit is reached first.
    #[inline]
    pub(crate) fn lock_within(&self, limit: Limit) -> Result<Result<(), GaveUp>, Overflow> {
        self.take(|mutex| mutex.lock_within(limit))
    }

    /// Acquires the mutex if no other owner holds it. Returns whether it did.
    ///
    /// # Errors
    ///
    /// Fails if the caller owns the mutex and the count would overflow.
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

    /// Releases the mutex once. Only its owner may call this.
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
    fn the_count_does_not_overflow() {
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
