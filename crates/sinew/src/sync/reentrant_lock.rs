//! A lock that its owner may take again, with the names of [`std::sync::ReentrantLock`](https://doc.rust-lang.org/std/sync/struct.ReentrantLock.html).
//!
//! # Safety
//!
//! Trusted with lending a value that need not be shared to one fiber or thread at a time.
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

/// A lock around a value that its owner may take again, for fibers and threads alike. As std's, which is not stable yet; its guards
/// lend the value to be read, since there may be several.
///
/// It belongs to the *fiber* that has taken it, wherever that goes on; another fiber on the same thread waits. On a plain thread it
/// belongs to the thread, and so it does in functions that [follow](crate::RuntimeBuilder::on_resume) a fiber, which are not part of
/// it. It is not poisoned by a panic, as std's is not. What is different:
///
/// - Waits that end: [`try_lock_for`](Self::try_lock_for), [`try_lock_until`](Self::try_lock_until) and
///   [`lock_cancellable`](Self::lock_cancellable).
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
    /// Behind a shared reference, touched only by whoever has `raw`.
    value: T,
}

// SAFETY: the invariant of `value` passes it from one fiber or thread to the next, which `T: Send` allows; two guards of the same one
// are never used at once.
unsafe impl<T: ?Sized + Send> Sync for ReentrantLock<T> {}

// As for the value itself: a panic does not poison it.
impl<T: ?Sized + UnwindSafe> UnwindSafe for ReentrantLock<T> {}
impl<T: ?Sized + RefUnwindSafe> RefUnwindSafe for ReentrantLock<T> {}

impl<T> ReentrantLock<T> {
    /// One that nobody has.
    #[inline]
    pub const fn new(value: T) -> Self {
        Self { raw: RawReentrant::new(), value }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T: ?Sized> ReentrantLock<T> {
    /// Waits until nobody else has it, and takes it, once more if the caller has it.
    ///
    /// # Panics
    ///
    /// If the caller has taken it 2³² - 1 times. If the caller would have to wait, and is inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> ReentrantLockGuard<'_, T> {
        always(self.lock_to(Limit::NEVER))
    }

    /// Takes it, if nobody else has it, and the caller not too often.
    #[inline]
    pub fn try_lock(&self) -> Option<ReentrantLockGuard<'_, T>> {
        self.raw.try_lock().unwrap_or(false).then(|| self.guard())
    }

    /// [`lock`](Self::lock), for at most so long. None, if somebody else has it for all that time.
    ///
    /// # Panics
    ///
    /// As [`lock`](Self::lock).
    #[track_caller]
    pub fn try_lock_for(&self, time: Duration) -> Option<ReentrantLockGuard<'_, T>> {
        self.lock_to(Limit::lasting(time)).ok()
    }

    /// [`lock`](Self::lock), until this moment at the latest. None, if somebody else has it until then.
    ///
    /// # Panics
    ///
    /// As [`lock`](Self::lock).
    #[track_caller]
    pub fn try_lock_until(&self, deadline: Instant) -> Option<ReentrantLockGuard<'_, T>> {
        self.lock_to(Limit::until(Some(deadline))).ok()
    }

    /// [`lock`](Self::lock), where [cancellation and deadlines](crate::fiber#stopping) count.
    ///
    /// # Errors
    ///
    /// If the caller is to stop before it has it.
    ///
    /// # Panics
    ///
    /// As [`lock`](Self::lock).
    #[track_caller]
    pub fn lock_cancellable(&self) -> Result<ReentrantLockGuard<'_, T>, Stopped> {
        unless_stopped(self.lock_to(Limit::STOP))
    }

    #[track_caller]
    fn lock_to(&self, limit: Limit) -> Result<ReentrantLockGuard<'_, T>, GaveUp> {
        self.raw.lock_within(limit).expect(OVERFLOW).map(|()| self.guard())
    }

    /// For whoever has just taken it.
    #[inline]
    fn guard(&self) -> ReentrantLockGuard<'_, T> {
        ReentrantLockGuard { lock: self, not_send: PhantomData }
    }

    /// The value, which nobody else can have now.
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

/// A hold of a [`ReentrantLock`], which is given back when the last one of its owner is dropped.
///
/// As std's, it is not [`Send`]; no thread gets it but the one that has it:
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
/// And what may not be shared is not shared through it:
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
#[must_use = "the lock is given back at once if the guard is not kept"]
#[clippy::has_significant_drop]
pub struct ReentrantLockGuard<'a, T: ?Sized + 'a> {
    /// # Invariant
    ///
    /// It is locked, for this guard.
    lock: &'a ReentrantLock<T>,
    /// As for std's. A fiber that may move takes its guards along.
    not_send: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives away shared references to the value, and no more.
unsafe impl<T: ?Sized + Sync> Sync for ReentrantLockGuard<'_, T> {}

impl<T: ?Sized> Deref for ReentrantLockGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // The invariant of `lock`: this is who may.
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
