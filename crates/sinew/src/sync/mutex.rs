//! A mutex around a value, with the names and the poisoning of [`std::sync::Mutex`].
//!
//! # Safety
//!
//! Trusted to lend the value to the holder of the lock.
#![expect(unsafe_code, reason = "the value is lent by a lock")]

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::sync::{LockResult, TryLockError, TryLockResult};
use std::time::{Duration, Instant};

use super::guards::{lock_methods, poisoned_lock, show_as_value};
use super::poison;
use crate::fiber::Stopped;
use crate::limited::unless_stopped;
use crate::raw::RawMutex;
use crate::rt::{Limit, impl_unwind_safe};

/// A mutex around a value, for fibers and threads. A fiber that waits for it leaves its worker to
/// other fibers.
///
/// It has all methods of [`std::sync::Mutex`], with the same names, errors and poisoning. A fiber
/// may hold a guard while it is suspended; the guard stays with the fiber. Differences from std:
///
/// - There are waits with a limit: [`try_lock_for`](Self::try_lock_for),
///   [`try_lock_until`](Self::try_lock_until) and [`lock_cancellable`](Self::lock_cancellable).
/// - There are guards for a part of the value: [`MutexGuard::map`], which std has in nightly
///   builds.
/// - A fiber that locks the mutex twice waits for ever. A thread that does so with std's may also
///   panic.
/// - A panic does not poison the mutex if the thread was already unwinding when the fiber resumed:
///   std counts panics per thread and does not know which fiber panicked. This happens while
///   another fiber of the same worker unwinds and waits in a destructor; see
///   [`fiber::panicking`](crate::fiber::panicking).
///
/// A newcomer may acquire a free mutex before the waiters, as long as no waiter has waited for more
/// than about a millisecond. After that, the mutex is handed to the waiters in the order in which
/// they came.
///
/// ```
/// use sinew::fiber;
/// use sinew::sync::Mutex;
/// use std::sync::Arc;
///
/// let total = Arc::new(Mutex::new(0));
/// let adders = (1..=10).map(|n| {
///     let total = total.clone();
///     fiber::spawn(move || *total.lock().unwrap() += n)
/// });
/// adders.collect::<Vec<_>>().into_iter().for_each(|adder| adder.join().unwrap());
/// assert_eq!(*total.lock().unwrap(), 55);
/// ```
pub struct Mutex<T: ?Sized> {
    pub(super) raw: RawMutex,
    poison: poison::PoisonFlag,
    /// # Invariant
    ///
    /// Accessed only by the holder of `raw`.
    value: UnsafeCell<T>,
}

// SAFETY: by the invariant of `value`, it passes from one thread to the next, which `T: Send`
// allows.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// Creates an unlocked mutex.
    ///
    /// ```
    /// use sinew::sync::Mutex;
    ///
    /// static NAMES: Mutex<Vec<String>> = Mutex::new(Vec::new());
    /// NAMES.lock().unwrap().push("first".to_owned());
    /// ```
    #[inline]
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self { raw: RawMutex::new(), poison: poison::PoisonFlag::new(), value: UnsafeCell::new(value) }
    }
}

impl<T: ?Sized> Mutex<T> {
    lock_methods! {
        MutexGuard by guard, lock_within
        /// Waits until the mutex is free, and acquires it.
        ///
        /// ```
        /// use sinew::fiber;
        /// use sinew::sync::Mutex;
        ///
        /// let total = Mutex::new(0);
        /// fiber::scope(|scope| {
        ///     for number in 1..=4 {
        ///         let total = &total;
        ///         scope.spawn(move || *total.lock().unwrap() += number);
        ///     }
        /// });
        /// assert_eq!(total.into_inner().unwrap(), 10);
        /// ```
        ///
        /// # Errors
        ///
        /// Returns an error if another holder panicked. The mutex is acquired nevertheless, and the
        /// guard is in the error.
        ///
        /// # Panics
        ///
        /// Panics if the caller would have to wait and is inside
        /// [`no_suspend`](crate::fiber::no_suspend).
        lock
        /// Acquires the mutex if it is free. Never waits.
        ///
        /// ```
        /// use sinew::sync::Mutex;
        ///
        /// let mutex = Mutex::new(5);
        /// let guard = mutex.lock().unwrap();
        /// assert!(mutex.try_lock().is_err());
        /// drop(guard);
        /// assert_eq!(*mutex.try_lock().unwrap(), 5);
        /// ```
        ///
        /// # Errors
        ///
        /// Returns [`WouldBlock`](TryLockError::WouldBlock) if the mutex is locked, and
        /// [`Poisoned`](TryLockError::Poisoned), with the guard, if another holder panicked.
        try_lock
        /// Acquires the lock as [`lock`](Self::lock) does, but waits at most for `time`.
        ///
        /// ```
        /// use sinew::sync::Mutex;
        /// use std::time::Duration;
        ///
        /// let mutex = Mutex::new(5);
        /// let guard = mutex.try_lock_for(Duration::from_millis(1)).unwrap();
        /// assert!(mutex.try_lock_for(Duration::from_millis(1)).is_err());
        /// drop(guard);
        /// ```
        ///
        /// # Errors
        ///
        /// Fails as [`try_lock`](Self::try_lock) does, if the mutex is not free in that time.
        try_lock_for
        /// Acquires the lock as [`lock`](Self::lock) does, but waits until `deadline` at the
        /// latest.
        ///
        /// # Errors
        ///
        /// Fails as [`try_lock_for`](Self::try_lock_for) does.
        try_lock_until
        /// Acquires the lock as [`lock`](Self::lock) does, but [cancellation and
        /// deadlines](crate::fiber#stopping) end the wait.
        ///
        /// ```
        /// use sinew::sync::Mutex;
        /// use sinew::time;
        /// use std::time::Duration;
        ///
        /// let mutex = Mutex::new(5);
        /// let guard = mutex.lock().unwrap();
        /// let wait = || mutex.lock_cancellable().map(|_| ());
        /// let stopped = time::timeout(Duration::from_millis(1), wait);
        /// assert!(stopped.unwrap_err().is_timed_out());
        /// # drop(guard);
        /// ```
        ///
        /// # Errors
        ///
        /// Returns an error if the caller is stopped before it acquires the mutex, or was stopped
        /// before the call and would have to wait. The inner result is that of
        /// [`lock`](Self::lock).
        lock_cancellable
    }

    /// Makes the guard for a caller that has just acquired the lock.
    #[inline]
    pub(super) fn guard(&self) -> LockResult<MutexGuard<'_, T>> {
        let guard = MutexGuard { mutex: self, before: self.poison.enter(), not_send: PhantomData };
        self.poison.wrap(guard)
    }
}

poisoned_lock!(Mutex, try_lock, "a caller panicked while it held the lock", "<locked>");

/// The guard of a [`Mutex`], which releases the lock when it is dropped. As
/// [`std::sync::MutexGuard`].
///
/// As std's guard, it is not [`Send`]. It stays with the fiber or thread that acquired the lock:
///
/// ```compile_fail,E0277
/// use sinew::fiber;
/// use sinew::sync::Mutex;
///
/// static MUTEX: Mutex<u32> = Mutex::new(0);
/// let guard = MUTEX.lock().unwrap();
/// fiber::spawn(move || drop(guard));
/// ```
#[must_use = "the lock is released at once if the guard is not kept"]
#[clippy::has_significant_drop]
pub struct MutexGuard<'a, T: ?Sized + 'a> {
    /// # Invariant
    ///
    /// The mutex is locked, for this guard.
    mutex: &'a Mutex<T>,
    before: poison::Before,
    /// Not `Send`, as std's guards. A fiber that migrates takes its guards along.
    not_send: PhantomData<*const ()>,
}

// SAFETY: a shared reference to the guard only lends shared references to the value.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Returns the mutex that this guard has locked.
    #[inline]
    pub(super) fn mutex(&self) -> &'a Mutex<T> {
        self.mutex
    }

    /// Returns the lock, still held, and what is needed to release it. The caller must release it.
    #[inline]
    pub(super) fn into_parts(self) -> (&'a RawMutex, &'a poison::PoisonFlag, poison::Before) {
        let this = ManuallyDrop::new(self);
        (&this.mutex.raw, &this.mutex.poison, this.before)
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the invariant of `mutex`, and that of `Mutex::value`.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the invariant of `mutex`, and that of `Mutex::value`.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.mutex.poison.leave(self.before);
        self.mutex.raw.unlock();
    }
}

show_as_value!(MutexGuard);
