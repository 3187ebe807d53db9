//! A lock around a value, with the names and the poison of [`std::sync::Mutex`].
//!
//! # Safety
//!
//! Trusted with lending the value to whoever has the lock.
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

/// A lock around a value, for fibers and threads alike: a fiber that waits for it gives its worker to others.
///
/// It has all that [`std::sync::Mutex`] has, with the same names, errors and poison; a guard may be held across a suspension,
/// and stays with the fiber. What is different:
///
/// - Waits that end: [`try_lock_for`](Self::try_lock_for), [`try_lock_until`](Self::try_lock_until) and
///   [`lock_cancellable`](Self::lock_cancellable).
/// - Guards for a part of the value: [`MutexGuard::map`], which std has in nightly builds.
/// - A fiber that locks it twice waits for ever, as a thread may with std's, which may also panic.
/// - A panic does not poison it if the thread was unwinding already when the fiber went on: std counts panics per thread, and nobody
///   can tell whose it is. That is so while another fiber of the worker unwinds and waits in a destructor: the case that
///   [`fiber::panicking`](crate::fiber::panicking) tells of.
///
/// Whoever comes while others wait may take it first, for as long as nobody has waited for more than about a millisecond; from then
/// on it goes to them in the order in which they came.
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
    /// Touched only by whoever has `raw`.
    value: UnsafeCell<T>,
}

// SAFETY: the invariant of `value` passes it from one thread to the next, which `T: Send` allows.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// One that nobody has.
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
        /// Waits until nobody else has it, and takes it.
        ///
        /// # Errors
        ///
        /// If somebody panicked while it had it. It is taken all the same, and the guard is in the error.
        ///
        /// # Panics
        ///
        /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
        lock
        /// Takes it, if nobody has it.
        ///
        /// # Errors
        ///
        /// [`WouldBlock`](TryLockError::WouldBlock), if somebody has it; [`Poisoned`](TryLockError::Poisoned), with the guard, if somebody
        /// panicked while it had it.
        try_lock
        /// [`lock`](Self::lock), for at most so long.
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
        /// As [`try_lock`](Self::try_lock), if somebody has it for all that time.
        try_lock_for
        /// [`lock`](Self::lock), until this moment at the latest.
        ///
        /// # Errors
        ///
        /// As [`try_lock_for`](Self::try_lock_for).
        try_lock_until
        /// [`lock`](Self::lock), where [cancellation and deadlines](crate::fiber#stopping) count.
        ///
        /// ```
        /// use sinew::sync::Mutex;
        /// use sinew::time;
        /// use std::time::Duration;
        ///
        /// let mutex = Mutex::new(5);
        /// let guard = mutex.lock().unwrap();
        /// let stopped = time::timeout(Duration::from_millis(1), || mutex.lock_cancellable().map(|_| ()));
        /// assert!(stopped.unwrap_err().is_timed_out());
        /// # drop(guard);
        /// ```
        ///
        /// # Errors
        ///
        /// If the caller is to stop before it has it, or was to stop already and would have to wait. Inside, as [`lock`](Self::lock).
        lock_cancellable
    }

    /// For whoever has just taken it.
    #[inline]
    pub(super) fn guard(&self) -> LockResult<MutexGuard<'_, T>> {
        let guard = MutexGuard { mutex: self, before: self.poison.enter(), not_send: PhantomData };
        self.poison.wrap(guard)
    }
}

poisoned_lock!(Mutex, try_lock, "somebody panicked while it had the lock", "<locked>");

/// The lock of a [`Mutex`], which is given back when this is dropped. As [`std::sync::MutexGuard`].
///
/// As std's, it is not [`Send`]; no thread gets it but the one that has it:
///
/// ```compile_fail,E0277
/// use sinew::fiber;
/// use sinew::sync::Mutex;
///
/// static MUTEX: Mutex<u32> = Mutex::new(0);
/// let guard = MUTEX.lock().unwrap();
/// fiber::spawn(move || drop(guard));
/// ```
#[must_use = "the lock is given back at once if the guard is not kept"]
#[clippy::has_significant_drop]
pub struct MutexGuard<'a, T: ?Sized + 'a> {
    /// # Invariant
    ///
    /// It is locked, for this guard.
    mutex: &'a Mutex<T>,
    before: poison::Before,
    /// As for std's. A fiber that may move takes its guards along.
    not_send: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives away shared references to the value, and no more.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The mutex that this is the lock of.
    #[inline]
    pub(super) fn mutex(&self) -> &'a Mutex<T> {
        self.mutex
    }

    /// The lock, still taken, for the caller, and what is needed to give it back.
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
        // SAFETY: the invariant of `mutex`, and that of its value.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the invariant of `mutex`, and that of its value.
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
