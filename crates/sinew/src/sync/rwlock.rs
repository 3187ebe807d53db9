//! A lock around a value for many readers or one writer, with the names and the poison of [`std::sync::RwLock`].
//!
//! # Safety
//!
//! Trusted with lending the value to those who have the lock.
#![expect(unsafe_code, reason = "the value is lent by a lock")]

use std::cell::UnsafeCell;
use std::fmt;
use std::sync::{LockResult, TryLockError, TryLockResult};
use std::time::{Duration, Instant};

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
    pub(super) poison: poison::Flag,
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

// A writer's panic poisons it, so that nobody sees a broken value without being told.
impl_unwind_safe!(RwLock<T: ?Sized>);

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
        Self { raw: RawRwLock::new(), poison: poison::Flag::new(), value: UnsafeCell::new(value) }
    }

    /// The value.
    ///
    /// # Errors
    ///
    /// If a writer panicked. The value is in the error.
    pub fn into_inner(self) -> LockResult<T> {
        let Self { poison, value, .. } = self;
        poison.wrap(value.into_inner())
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until no writer has it, and takes it to read.
    ///
    /// # Errors
    ///
    /// If a writer panicked. It is taken all the same, and the guard is in the error.
    ///
    /// # Panics
    ///
    /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
    #[inline]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        self.raw.read();
        self.read_guard()
    }

    /// Takes it to read, if no writer has it, nor one is to have it next.
    ///
    /// # Errors
    ///
    /// [`WouldBlock`](TryLockError::WouldBlock), if it cannot be had now; [`Poisoned`](TryLockError::Poisoned), with the guard, if
    /// a writer panicked.
    #[inline]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        if self.raw.try_read() { Ok(self.read_guard()?) } else { Err(TryLockError::WouldBlock) }
    }

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
    pub fn try_read_for(&self, time: Duration) -> TryLockResult<RwLockReadGuard<'_, T>> {
        self.read_to(Limit::lasting(time))
    }

    /// [`read`](Self::read), until this moment at the latest.
    ///
    /// # Errors
    ///
    /// As [`try_read_for`](Self::try_read_for).
    ///
    /// # Panics
    ///
    /// As [`read`](Self::read).
    pub fn try_read_until(&self, deadline: Instant) -> TryLockResult<RwLockReadGuard<'_, T>> {
        self.read_to(Limit::until(Some(deadline)))
    }

    fn read_to(&self, limit: Limit) -> TryLockResult<RwLockReadGuard<'_, T>> {
        match self.raw.read_within(limit) {
            Ok(()) => Ok(self.read_guard()?),
            Err(_) => Err(TryLockError::WouldBlock),
        }
    }

    /// [`read`](Self::read), where [cancellation and deadlines](crate::fiber#stopping) count.
    ///
    /// # Errors
    ///
    /// If the caller is to stop before it has it, or was to stop already and would have to wait. Inside, as [`read`](Self::read).
    ///
    /// # Panics
    ///
    /// As [`read`](Self::read).
    #[track_caller]
    pub fn read_cancellable(&self) -> Result<LockResult<RwLockReadGuard<'_, T>>, Stopped> {
        unless_stopped(self.raw.read_within(Limit::STOP)).map(|()| self.read_guard())
    }

    /// Waits until nobody else has it, and takes it to write.
    ///
    /// # Errors
    ///
    /// If a writer panicked. It is taken all the same, and the guard is in the error.
    ///
    /// # Panics
    ///
    /// As [`read`](Self::read).
    #[inline]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        self.raw.write();
        self.write_guard()
    }

    /// Takes it to write, if nobody has it.
    ///
    /// # Errors
    ///
    /// As [`try_read`](Self::try_read).
    #[inline]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        if self.raw.try_write() { Ok(self.write_guard()?) } else { Err(TryLockError::WouldBlock) }
    }

    /// [`write`](Self::write), for at most so long.
    ///
    /// # Errors
    ///
    /// As [`try_read`](Self::try_read), if it cannot be had in all that time.
    ///
    /// # Panics
    ///
    /// As [`read`](Self::read).
    pub fn try_write_for(&self, time: Duration) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        self.write_to(Limit::lasting(time))
    }

    /// [`write`](Self::write), until this moment at the latest.
    ///
    /// # Errors
    ///
    /// As [`try_write_for`](Self::try_write_for).
    ///
    /// # Panics
    ///
    /// As [`read`](Self::read).
    pub fn try_write_until(&self, deadline: Instant) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        self.write_to(Limit::until(Some(deadline)))
    }

    fn write_to(&self, limit: Limit) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        match self.raw.write_within(limit) {
            Ok(()) => Ok(self.write_guard()?),
            Err(_) => Err(TryLockError::WouldBlock),
        }
    }

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
    #[track_caller]
    pub fn write_cancellable(&self) -> Result<LockResult<RwLockWriteGuard<'_, T>>, Stopped> {
        unless_stopped(self.raw.write_within(Limit::STOP)).map(|()| self.write_guard())
    }

    /// For whoever has just taken it to read.
    #[inline]
    fn read_guard(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        // SAFETY: the caller has it.
        self.poison.wrap(unsafe { RwLockReadGuard::new(self) })
    }

    /// For whoever has just taken it to write.
    #[inline]
    fn write_guard(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        // SAFETY: the caller has it.
        self.poison.wrap(unsafe { RwLockWriteGuard::new(self) })
    }

    /// Whether a writer panicked while it had it.
    #[inline]
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.poison.get()
    }

    /// Has all who lock it from now on find the value in order.
    pub fn clear_poison(&self) {
        self.poison.clear();
    }

    /// The value, which nobody else can have now.
    ///
    /// # Errors
    ///
    /// As [`into_inner`](Self::into_inner).
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.poison.wrap(self.value.get_mut())
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("RwLock");
        match self.try_read() {
            Ok(guard) => out.field("data", &&*guard),
            Err(TryLockError::Poisoned(error)) => out.field("data", &&**error.get_ref()),
            Err(TryLockError::WouldBlock) => out.field("data", &format_args!("<locked>")),
        };
        out.field("poisoned", &self.is_poisoned()).finish_non_exhaustive()
    }
}
