//! A lock that its owner may acquire again, with the names of
//! [`std::sync::ReentrantLock`](https://doc.rust-lang.org/std/sync/struct.ReentrantLock.html).
//!
//! # Safety
//!
//! Trusted to lend a value that may not be `Sync` to one fiber or thread at a time.
#![expect(unsafe_code, reason = "what need not be `Sync` is lent by a lock")]

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::{Duration, Instant};

use super::guards::show_as_value;
use crate::fiber::Stopped;
use crate::limited::{always, unless_stopped};
use crate::raw::RawReentrant;
use crate::rt::{GaveUp, Limit};

const OVERFLOW: &str = "lock count overflow in reentrant mutex";

/// A lock around a value that its owner may acquire again, for fibers and threads. As std's, which
/// is not stable yet. The guards give only shared access to the value, since several may exist at
/// once.
///
/// The owner is the *fiber* that acquired the lock, even if it migrates; another fiber on the same
/// thread waits. On a plain thread, the owner is the thread. This is also true in hooks that
/// [follow](crate::RuntimeBuilder::on_resume) a fiber: they are not part of it. A panic does not
/// poison the lock, as with std's. Differences from std:
///
/// - There are waits with a limit: [`try_lock_for`](Self::try_lock_for),
///   [`try_lock_until`](Self::try_lock_until) and [`lock_cancellable`](Self::lock_cancellable).
///
/// ```
/// use sinew::sync::ReentrantLock;
/// use std::cell::Cell;
///
/// static DEPTH: ReentrantLock<Cell<u32>> = ReentrantLock::new(Cell::new(0));
///
/// fn descend(levels: u32) {
///     let depth = DEPTH.lock();
///     depth.set(depth.get() + 1);
///     if levels > 1 {
///         descend(levels - 1);
///     }
/// }
///
/// descend(3);
/// assert_eq!(DEPTH.lock().get(), 3);
/// ```
pub struct ReentrantLock<T: ?Sized> {
    raw: RawReentrant,
    /// # Invariant
    ///
    /// Behind a shared reference, accessed only by the owner of `raw`.
    value: T,
}

// SAFETY: by the invariant of `value`, it passes from one fiber or thread to the next, which
// `T: Send` allows. Two guards of the same lock are never used by two threads at once.
unsafe impl<T: ?Sized + Send> Sync for ReentrantLock<T> {}

// As the value itself, since a panic does not poison the lock.
impl<T: ?Sized + UnwindSafe> UnwindSafe for ReentrantLock<T> {}
impl<T: ?Sized + RefUnwindSafe> RefUnwindSafe for ReentrantLock<T> {}

impl<T> ReentrantLock<T> {
    /// Creates an unlocked lock.
    #[inline]
    pub const fn new(value: T) -> Self {
        Self { raw: RawReentrant::new(), value }
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: ?Sized> ReentrantLock<T> {
    /// Waits until no other owner holds the lock, and acquires it. If the caller already holds it,
    /// it holds it once more.
    ///
    /// # Panics
    ///
    /// Panics if the caller holds the lock 2³² - 1 times already. Panics if the caller would have
    /// to wait and is inside [`no_suspend`](crate::fiber::no_suspend).
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> ReentrantLockGuard<'_, T> {
        always(self.lock_to(Limit::NEVER))
    }

    /// Acquires the lock unless another owner holds it, or the caller holds it 2³² - 1 times
    /// already. Never waits.
    ///
    /// ```
    /// use sinew::fiber;
    /// use sinew::sync::ReentrantLock;
    ///
    /// static LOCK: ReentrantLock<u32> = ReentrantLock::new(5);
    ///
    /// let guard = LOCK.lock();
    /// assert!(LOCK.try_lock().is_some());
    /// let other = fiber::spawn(|| LOCK.try_lock().is_none());
    /// assert!(other.join().unwrap());
    /// # drop(guard);
    /// ```
    #[inline]
    pub fn try_lock(&self) -> Option<ReentrantLockGuard<'_, T>> {
        self.raw.try_lock().unwrap_or(false).then(|| self.guard())
    }

    /// Acquires the lock as [`lock`](Self::lock) does, but waits at most for `time`. Returns `None`
    /// if another owner holds it for all that time.
    ///
    /// # Panics
    ///
    /// Panics as [`lock`](Self::lock) does.
    #[track_caller]
    pub fn try_lock_for(&self, time: Duration) -> Option<ReentrantLockGuard<'_, T>> {
        self.lock_to(Limit::lasting(time)).ok()
    }

    /// Acquires the lock as [`lock`](Self::lock) does, but waits until `deadline` at the latest.
    /// Returns `None` if another owner holds it until then.
    ///
    /// # Panics
    ///
    /// Panics as [`lock`](Self::lock) does.
    #[track_caller]
    pub fn try_lock_until(&self, deadline: Instant) -> Option<ReentrantLockGuard<'_, T>> {
        self.lock_to(Limit::until(Some(deadline))).ok()
    }

    /// Acquires the lock as [`lock`](Self::lock) does, but [cancellation and
    /// deadlines](crate::fiber#stopping) end the wait.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller is stopped before it acquires the lock.
    ///
    /// # Panics
    ///
    /// Panics as [`lock`](Self::lock) does.
    #[track_caller]
    pub fn lock_cancellable(&self) -> Result<ReentrantLockGuard<'_, T>, Stopped> {
        unless_stopped(self.lock_to(Limit::STOP))
    }

    #[track_caller]
    fn lock_to(&self, limit: Limit) -> Result<ReentrantLockGuard<'_, T>, GaveUp> {
        self.raw.lock_within(limit).expect(OVERFLOW).map(|()| self.guard())
    }

    /// Makes the guard for a caller that has just acquired the lock.
    #[inline]
    fn guard(&self) -> ReentrantLockGuard<'_, T> {
        ReentrantLockGuard { lock: self, not_send: PhantomData }
    }

    /// Returns a mutable reference to the value. It needs no lock, since `&mut self` excludes other
    /// users.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> From<T> for ReentrantLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default> Default for ReentrantLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for ReentrantLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("ReentrantLock");
        match self.try_lock() {
            Some(guard) => out.field("data", &&*guard),
            None => out.field("data", &format_args!("<locked>")),
        };
        out.finish_non_exhaustive()
    }
}

/// The guard of a [`ReentrantLock`]. The lock is released when the last guard of its owner is
/// dropped.
///
/// As std's guard, it is not [`Send`]. It stays with the fiber or thread that acquired the lock:
///
/// ```compile_fail,E0277
/// use sinew::fiber;
/// use sinew::sync::ReentrantLock;
///
/// static LOCK: ReentrantLock<u32> = ReentrantLock::new(0);
/// let guard = LOCK.lock();
/// fiber::spawn(move || drop(guard));
/// ```
///
/// A value that is not [`Sync`] is not shared through it:
///
/// ```compile_fail,E0277
/// use sinew::fiber;
/// use sinew::sync::ReentrantLock;
/// use std::cell::Cell;
///
/// static LOCK: ReentrantLock<Cell<u32>> = ReentrantLock::new(Cell::new(0));
/// let guard = LOCK.lock();
/// fiber::scope(|scope| drop(scope.spawn(|| guard.set(1))));
/// ```
#[must_use = "the lock is released at once if the guard is not kept"]
#[clippy::has_significant_drop]
pub struct ReentrantLockGuard<'a, T: ?Sized + 'a> {
    /// # Invariant
    ///
    /// The lock is held, for this guard.
    lock: &'a ReentrantLock<T>,
    /// Not `Send`, as std's guards. A fiber that migrates takes its guards along.
    not_send: PhantomData<*const ()>,
}

// SAFETY: a shared reference to the guard only lends shared references to the value.
unsafe impl<T: ?Sized + Sync> Sync for ReentrantLockGuard<'_, T> {}

impl<T: ?Sized> Deref for ReentrantLockGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // The invariant of `lock`: this guard's owner may access the value.
        &self.lock.value
    }
}

impl<T: ?Sized> Drop for ReentrantLockGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.raw.unlock();
    }
}

show_as_value!(ReentrantLockGuard);
