//! A reader-writer lock around a value, with the names and the poisoning of [`std::sync::RwLock`].
//!
//! # Safety
//!
//! Trusted to lend the value to the holders of the lock.
#![expect(unsafe_code, reason = "the value is lent by a lock")]

use std::cell::UnsafeCell;
use std::fmt;
use std::ptr::NonNull;
use std::sync::{LockResult, TryLockError, TryLockResult};
use std::time::{Duration, Instant};

use super::guards::{lock_methods, poisoned_lock};
use super::poison;
use super::rwlock_guards::{RwLockReadGuard, RwLockWriteGuard};
use crate::fiber::Stopped;
use crate::limited::unless_stopped;
use crate::raw::RawRwLock;
use crate::rt::{Limit, impl_unwind_safe};

/// A lock around a value that lets many callers read at once, or one caller write, for fibers and
/// threads. A fiber that waits for it leaves its worker to other fibers.
///
/// It has all methods of [`std::sync::RwLock`], with the same names, errors and poisoning: only the
/// panic of a writer poisons it. A fiber may hold a guard while it is suspended; the guard stays
/// with the fiber. Differences from std:
///
/// - There are waits with a limit: [`try_read_for`](Self::try_read_for),
///   [`try_write_for`](Self::try_write_for), their `_until` forms, and
///   [`read_cancellable`](Self::read_cancellable) and
///   [`write_cancellable`](Self::write_cancellable).
/// - There are guards for a part of the value: [`RwLockReadGuard::map`] and similar ones, which std
///   has in nightly builds.
/// - A caller that holds the lock and acquires it again never panics, as it may with std. It may
///   wait for ever.
/// - The number of readers has no limit that causes a panic.
/// - A panic does not poison the lock if the thread was already unwinding when the fiber resumed:
///   std counts panics per thread and does not know which fiber panicked. This happens while
///   another fiber of the same worker unwinds and waits in a destructor; see
///   [`fiber::panicking`](crate::fiber::panicking).
///
/// # Who is first
///
/// Neither readers nor writers are preferred. A caller that finds the lock free for it acquires it,
/// even if others wait: a reader if no writer holds the lock, a writer if no caller holds it.
/// Waiters keep the order in which they came. When a holder releases the lock, the first waiter is
/// woken and tries again.
///
/// A waiter that was woken, did not get the lock and has waited for more than about a millisecond
/// keeps newcomers out: the lock is then handed to the first waiter, or to all readers at the front
/// of the queue.
///
/// A waiter that is not woken keeps no newcomers out. While a reader keeps the lock, new readers
/// are let in beside it, however long a writer has waited, until one of the readers leaves. From
/// then on, the writer waits only for the readers that hold the lock. Neither readers nor writers
/// starve.
///
/// So a reader may have to wait for a writer that waits for other readers. As with std's lock, a
/// caller that holds the lock for reading must not acquire it for reading again: if a writer came
/// between the two calls, all of them would wait for ever.
///
/// ```
/// use sinew::fiber;
/// use sinew::sync::RwLock;
///
/// let lock = RwLock::new(5);
/// fiber::scope(|scope| {
///     for _ in 0..10 {
///         scope.spawn(|| assert!(*lock.read().unwrap() >= 5));
///     }
///     scope.spawn(|| *lock.write().unwrap() += 1);
/// });
/// assert_eq!(*lock.read().unwrap(), 6);
/// ```
pub struct RwLock<T: ?Sized> {
    pub(super) raw: RawRwLock,
    pub(super) poison: poison::PoisonFlag,
    /// # Invariant
    ///
    /// Read only by holders of `raw`, and changed only by its writer.
    pub(super) value: UnsafeCell<T>,
}

// SAFETY: the lock owns its value, which `T: Send` allows to send along.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: by the invariant of `value`, it passes from one writer to the next, which `T: Send`
// allows, and readers share it, which `T: Sync` allows.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T> RwLock<T> {
    /// Creates an unlocked lock.
    ///
    /// ```
    /// use sinew::sync::RwLock;
    ///
    /// static NAMES: RwLock<Vec<String>> = RwLock::new(Vec::new());
    /// NAMES.write().unwrap().push("first".to_owned());
    /// assert_eq!(NAMES.read().unwrap().len(), 1);
    /// ```
    #[inline]
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self { raw: RawRwLock::new(), poison: poison::PoisonFlag::new(), value: UnsafeCell::new(value) }
    }
}

impl<T: ?Sized> RwLock<T> {
    lock_methods! {
        RwLockReadGuard by read_guard, read_within
        /// Waits until no writer holds the lock, and acquires it for reading.
        ///
        /// ```
        /// use sinew::sync::RwLock;
        ///
        /// let lock = RwLock::new(5);
        /// let first = lock.read().unwrap();
        /// let second = lock.try_read().unwrap();
        /// assert_eq!(*first + *second, 10);
        /// ```
        ///
        /// # Errors
        ///
        /// Returns an error if a writer panicked. The lock is acquired nevertheless, and the guard
        /// is in the error.
        ///
        /// # Panics
        ///
        /// Panics if the caller would have to wait and is inside
        /// [`no_suspend`](crate::fiber::no_suspend).
        read
        /// Acquires the lock for reading, unless a writer holds it or it is about to be handed to a
        /// waiter. Never waits.
        ///
        /// # Errors
        ///
        /// Returns [`WouldBlock`](TryLockError::WouldBlock) if the lock is not free for the caller,
        /// and [`Poisoned`](TryLockError::Poisoned), with the guard, if a writer panicked.
        try_read
        /// Acquires the lock as [`read`](Self::read) does, but waits at most for `time`.
        ///
        /// ```
        /// use sinew::sync::RwLock;
        /// use std::time::Duration;
        ///
        /// let lock = RwLock::new(5);
        /// let guard = lock.write().unwrap();
        /// assert!(lock.try_read_for(Duration::from_millis(1)).is_err());
        /// drop(guard);
        /// assert_eq!(*lock.try_read_for(Duration::MAX).unwrap(), 5);
        /// ```
        ///
        /// # Errors
        ///
        /// Fails as [`try_read`](Self::try_read) does, if the lock is not free for the caller in
        /// that time.
        ///
        /// # Panics
        ///
        /// Panics as [`read`](Self::read) does.
        try_read_for
        /// Acquires the lock as [`read`](Self::read) does, but waits until `deadline` at the
        /// latest.
        ///
        /// # Errors
        ///
        /// Fails as [`try_read_for`](Self::try_read_for) does.
        ///
        /// # Panics
        ///
        /// Panics as [`read`](Self::read) does.
        try_read_until
        /// Acquires the lock as [`read`](Self::read) does, but [cancellation and
        /// deadlines](crate::fiber#stopping) end the wait.
        ///
        /// # Errors
        ///
        /// Returns an error if the caller is stopped before it acquires the lock, or was stopped
        /// before the call and would have to wait. The inner result is that of
        /// [`read`](Self::read).
        ///
        /// # Panics
        ///
        /// Panics as [`read`](Self::read) does.
        read_cancellable
    }

    lock_methods! {
        RwLockWriteGuard by write_guard, write_within
        /// Waits until no other caller holds the lock, and acquires it for writing.
        ///
        /// ```
        /// use sinew::sync::RwLock;
        ///
        /// let lock = RwLock::new(5);
        /// *lock.write().unwrap() += 1;
        /// assert_eq!(*lock.read().unwrap(), 6);
        /// ```
        ///
        /// # Errors
        ///
        /// Returns an error if another writer panicked. The lock is acquired nevertheless, and the
        /// guard is in the error.
        ///
        /// # Panics
        ///
        /// Panics as [`read`](Self::read) does.
        write
        /// Acquires the lock for writing if no caller holds it. Never waits.
        ///
        /// ```
        /// use sinew::sync::RwLock;
        ///
        /// let lock = RwLock::new(5);
        /// let reader = lock.read().unwrap();
        /// assert!(lock.try_write().is_err());
        /// drop(reader);
        /// assert!(lock.try_write().is_ok());
        /// ```
        ///
        /// # Errors
        ///
        /// Fails as [`try_read`](Self::try_read) does.
        try_write
        /// Acquires the lock as [`write`](Self::write) does, but waits at most for `time`.
        ///
        /// # Errors
        ///
        /// Fails as [`try_read`](Self::try_read) does, if the lock is not free for the caller in
        /// that time.
        ///
        /// # Panics
        ///
        /// Panics as [`read`](Self::read) does.
        try_write_for
        /// Acquires the lock as [`write`](Self::write) does, but waits until `deadline` at the
        /// latest.
        ///
        /// # Errors
        ///
        /// Fails as [`try_write_for`](Self::try_write_for) does.
        ///
        /// # Panics
        ///
        /// Panics as [`read`](Self::read) does.
        try_write_until
        /// Acquires the lock as [`write`](Self::write) does, but [cancellation and
        /// deadlines](crate::fiber#stopping) end the wait.
        ///
        /// ```
        /// use sinew::sync::RwLock;
        /// use sinew::time;
        /// use std::time::Duration;
        ///
        /// let lock = RwLock::new(5);
        /// let guard = lock.read().unwrap();
        /// let wait = || lock.write_cancellable().map(|_| ());
        /// let stopped = time::timeout(Duration::from_millis(1), wait);
        /// assert!(stopped.unwrap_err().is_timed_out());
        /// # drop(guard);
        /// ```
        ///
        /// # Errors
        ///
        /// Returns an error if the caller is stopped before it acquires the lock, or was stopped
        /// before the call and would have to wait. The inner result is that of
        /// [`write`](Self::write).
        ///
        /// # Panics
        ///
        /// Panics as [`read`](Self::read) does.
        write_cancellable
    }

    /// Makes the guard for a caller that has just acquired the lock for reading.
    #[inline]
    fn read_guard(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        // SAFETY: the caller has acquired the lock for reading.
        self.poison.wrap(unsafe { self.reader() })
    }

    /// # Safety
    ///
    /// The caller has acquired the lock for reading, and leaves its release to the guard.
    #[inline]
    pub(super) unsafe fn reader(&self) -> RwLockReadGuard<'_, T> {
        // SAFETY: the pointer to the value of a cell is not null.
        let value = unsafe { NonNull::new_unchecked(self.value.get()) };
        // SAFETY: the caller's promise, and the invariant of `value`.
        unsafe { RwLockReadGuard::new(value, &self.raw) }
    }

    /// Makes the guard for a caller that has just acquired the lock for writing.
    #[inline]
    fn write_guard(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        // SAFETY: the caller has acquired the lock for writing.
        self.poison.wrap(unsafe { RwLockWriteGuard::new(self) })
    }
}

poisoned_lock!(RwLock, try_read, "a writer panicked while it held the lock", format_args!("<locked>"));
