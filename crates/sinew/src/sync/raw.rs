//! The locks under [`Mutex`](super::Mutex) and [`RwLock`](super::RwLock), for the types of
//! [`lock_api`]: these have the guards of `lock_api`, no poisoning, and work for fibers and
//! threads.
//!
//! ```
//! use sinew::fiber;
//! use sinew::sync::raw::{RawMutex, RawRwLock};
//!
//! type Mutex<T> = lock_api::Mutex<RawMutex, T>;
//! type RwLock<T> = lock_api::RwLock<RawRwLock, T>;
//!
//! let (total, limit) = (Mutex::new(0), RwLock::new(10));
//! fiber::scope(|scope| {
//!     for n in 1..=20 {
//!         let (total, limit) = (&total, &limit);
//!         scope.spawn(move || *total.lock() += n.min(*limit.read()));
//!     }
//! });
//! assert_eq!(*total.lock(), 155);
//! ```
//!
//! # Safety
//!
//! Trusted with the promise to [`lock_api`] that these types are locks.
#![expect(unsafe_code, reason = "that something is a lock is a promise")]

use std::time::{Duration, Instant};

use lock_api::GuardNoSend;

use crate::raw;
use crate::rt::{Limit, impl_debug};

/// The lock under [`Mutex`](super::Mutex).
pub struct RawMutex(raw::RawMutex);

// SAFETY: it has at most one holder at a time.
unsafe impl lock_api::RawMutex for RawMutex {
    const INIT: Self = Self(raw::RawMutex::new());

    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock(&self) {
        self.0.lock();
    }

    #[inline]
    fn try_lock(&self) -> bool {
        self.0.try_lock()
    }

    #[inline]
    unsafe fn unlock(&self) {
        self.0.unlock();
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawMutexTimed for RawMutex {
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_for(&self, time: Duration) -> bool {
        self.0.lock_within(within(time)).is_ok()
    }

    fn try_lock_until(&self, deadline: Instant) -> bool {
        self.0.lock_within(Limit::until(Some(deadline))).is_ok()
    }
}

/// The lock under [`RwLock`](super::RwLock).
pub struct RawRwLock(raw::RawRwLock);

// SAFETY: a writer holds it alone, and readers hold it only while no writer does.
unsafe impl lock_api::RawRwLock for RawRwLock {
    const INIT: Self = Self(raw::RawRwLock::new());

    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock_shared(&self) {
        self.0.read();
    }

    #[inline]
    fn try_lock_shared(&self) -> bool {
        self.0.try_read()
    }

    #[inline]
    unsafe fn unlock_shared(&self) {
        self.0.unlock_read();
    }

    #[inline]
    fn lock_exclusive(&self) {
        self.0.write();
    }

    #[inline]
    fn try_lock_exclusive(&self) -> bool {
        self.0.try_write()
    }

    #[inline]
    unsafe fn unlock_exclusive(&self) {
        self.0.unlock_write();
    }
}

// SAFETY: as above.
unsafe impl lock_api::RawRwLockTimed for RawRwLock {
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_shared_for(&self, time: Duration) -> bool {
        self.0.read_within(within(time)).is_ok()
    }

    fn try_lock_shared_until(&self, deadline: Instant) -> bool {
        self.0.read_within(Limit::until(Some(deadline))).is_ok()
    }

    fn try_lock_exclusive_for(&self, time: Duration) -> bool {
        self.0.write_within(within(time)).is_ok()
    }

    fn try_lock_exclusive_until(&self, deadline: Instant) -> bool {
        self.0.write_within(Limit::until(Some(deadline))).is_ok()
    }
}

// SAFETY: as above, and no writer gets the lock in between.
unsafe impl lock_api::RawRwLockDowngrade for RawRwLock {
    unsafe fn downgrade(&self) {
        self.0.downgrade();
    }
}

/// Returns the limit for this time. If the end exceeds the range of the clock, there is none.
fn within(time: Duration) -> Limit {
    Limit::lasting(time)
}

impl_debug!(RawMutex, ..);

impl_debug!(RawRwLock, ..);
