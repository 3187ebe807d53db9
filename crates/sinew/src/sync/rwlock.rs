//! A lock around a value for many readers or one writer, with the names and the poison of [`std::sync::RwLock`].
//!
//! # Safety
//!
//! Trusted with lending the value to those who have the lock.
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

/// A lock around a value that many may read at once, or one may change; for fibers and threads alike: a fiber that waits for it gives
/// its worker to others.
///
/// It has all that [`std::sync::RwLock`] has, with the same names, errors and poison: a panic poisons it if it is that of a writer.
/// A guard may be held across a suspension, and stays with the fiber. What is different:
///
/// - Waits that end: [`try_read_for`](Self::try_read_for), [`try_write_for`](Self::try_write_for), their forms with a moment, and
///   [`read_cancellable`](Self::read_cancellable) and [`write_cancellable`](Self::write_cancellable).
/// - Guards for a part of the value: [`RwLockReadGuard::map`] and its like, which std has in nightly builds.
/// - What std may do about a fiber or thread that has the lock already and wants it again is not a panic: it may wait for ever.
/// - There may be as many readers as one likes: nothing panics because of their number.
/// - A panic does not poison it if the thread was unwinding already when the fiber went on: std counts panics per thread, and nobody
///   can tell whose it is. That is so while another fiber of the worker unwinds and waits in a destructor: the case that
///   [`fiber::panicking`](crate::fiber::panicking) tells of.
///
/// # Who is first
///
/// Neither readers nor writers are preferred. A caller that finds the lock free for it takes it,
/// even if others wait: a reader, unless a writer holds the lock; a writer, if nobody does. Waiters
/// keep the order in which they came. When a holder leaves, the first waiter is woken, and tries
/// too.
///
/// A waiter that was woken, did not get the lock and has waited for more than about a millisecond
/// keeps newcomers out: the lock is handed to the first waiter next, or to all readers that are
/// first.
///
/// A waiter that nobody wakes keeps nobody out. So new readers are let in beside a reader that
/// keeps the lock, however long a writer has waited, until one of the readers leaves. After that,
/// the writer waits only for the readers that are in. Neither readers nor writers starve.
///
/// A reader may thus have to wait for a writer that waits for other readers. As with std's, a
/// caller that reads must not read again before it has released the lock: with a writer between the
/// two, all of them would wait for ever.
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
    /// Read only by those who have `raw` to read or to write, and changed only by who has it to write.
    pub(super) value: UnsafeCell<T>,
}

// SAFETY: it has its value, which `T: Send` allows to pass on with it.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}
// SAFETY: the invariant of `value` passes it from one writer to the next, which `T: Send` allows, and has readers share it, which
// `T: Sync` does.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T> RwLock<T> {
    /// One that nobody has.
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
        /// Waits until no writer has it, and takes it to read.
        ///
        /// # Errors
        ///
        /// If a writer panicked. It is taken all the same, and the guard is in the error.
        ///
        /// # Panics
        ///
        /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
        read
        /// Takes it to read, if no writer has it, nor one is to have it next.
        ///
        /// # Errors
        ///
        /// [`WouldBlock`](TryLockError::WouldBlock), if it cannot be had now; [`Poisoned`](TryLockError::Poisoned), with the guard, if
        /// a writer panicked.
        try_read
        /// [`read`](Self::read), for at most so long.
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
        /// As [`try_read`](Self::try_read), if it cannot be had in all that time.
        ///
        /// # Panics
        ///
        /// As [`read`](Self::read).
        try_read_for
        /// [`read`](Self::read), until this moment at the latest.
        ///
        /// # Errors
        ///
        /// As [`try_read_for`](Self::try_read_for).
        ///
        /// # Panics
        ///
        /// As [`read`](Self::read).
        try_read_until
        /// [`read`](Self::read), where [cancellation and deadlines](crate::fiber#stopping) count.
        ///
        /// # Errors
        ///
        /// If the caller is to stop before it has it, or was to stop already and would have to wait. Inside, as [`read`](Self::read).
        ///
        /// # Panics
        ///
        /// As [`read`](Self::read).
        read_cancellable
    }

    lock_methods! {
        RwLockWriteGuard by write_guard, write_within
        /// Waits until nobody else has it, and takes it to write.
        ///
        /// # Errors
        ///
        /// If a writer panicked. It is taken all the same, and the guard is in the error.
        ///
        /// # Panics
        ///
        /// As [`read`](Self::read).
        write
        /// Takes it to write, if nobody has it.
        ///
        /// # Errors
        ///
        /// As [`try_read`](Self::try_read).
        try_write
        /// [`write`](Self::write), for at most so long.
        ///
        /// # Errors
        ///
        /// As [`try_read`](Self::try_read), if it cannot be had in all that time.
        ///
        /// # Panics
        ///
        /// As [`read`](Self::read).
        try_write_for
        /// [`write`](Self::write), until this moment at the latest.
        ///
        /// # Errors
        ///
        /// As [`try_write_for`](Self::try_write_for).
        ///
        /// # Panics
        ///
        /// As [`read`](Self::read).
        try_write_until
        /// [`write`](Self::write), where [cancellation and deadlines](crate::fiber#stopping) count.
        ///
        /// ```
        /// use sinew::sync::RwLock;
        /// use sinew::time;
        /// use std::time::Duration;
        ///
        /// let lock = RwLock::new(5);
        /// let guard = lock.read().unwrap();
        /// let stopped = time::timeout(Duration::from_millis(1), || lock.write_cancellable().map(|_| ()));
        /// assert!(stopped.unwrap_err().is_timed_out());
        /// # drop(guard);
        /// ```
        ///
        /// # Errors
        ///
        /// If the caller is to stop before it has it, or was to stop already and would have to wait. Inside, as [`write`](Self::write).
        ///
        /// # Panics
        ///
        /// As [`read`](Self::read).
        write_cancellable
    }

    /// For whoever has just taken it to read.
    #[inline]
    fn read_guard(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        // SAFETY: the caller has it.
        self.poison.wrap(unsafe { self.reader() })
    }

    /// # Safety
    ///
    /// The caller has it to read, and gives that to the guard.
    #[inline]
    pub(super) unsafe fn reader(&self) -> RwLockReadGuard<'_, T> {
        // SAFETY: a cell's pointer to its value is not null.
        let value = unsafe { NonNull::new_unchecked(self.value.get()) };
        // SAFETY: the caller's promise, and the invariant of `value`.
        unsafe { RwLockReadGuard::new(value, &self.raw) }
    }

    /// For whoever has just taken it to write.
    #[inline]
    fn write_guard(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        // SAFETY: the caller has it.
        self.poison.wrap(unsafe { RwLockWriteGuard::new(self) })
    }
}

poisoned_lock!(RwLock, try_read, "a writer panicked while it had the lock", format_args!("<locked>"));
