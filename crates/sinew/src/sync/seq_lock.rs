//! A small value that is read often and written rarely. Reading acquires no lock.
//!
//! # Safety
//!
//! Trusted to know which copies are consistent values.
#![expect(unsafe_code, reason = "what was copied in pieces becomes a value")]

use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

use super::plain::Plain;
use super::words::Words;
use crate::fiber::Stopped;
use crate::limited::{always, unless_stopped};
use crate::raw::RawSeqLock;
use crate::rt::{self, GaveUp, Limit, impl_unwind_safe};

/// A small value that is read often and written rarely, for fibers and threads. A reader copies the
/// value, and copies it again if it changed meanwhile. Readers write nothing to shared memory, so
/// they slow down neither each other nor the writers.
///
/// - A writer works on its own copy, which is *published* when its guard is dropped. The writer may
///   suspend while it has the guard: readers get the old value, and neither wait nor spin. Other
///   writers wait; a fiber that waits leaves its worker to other fibers.
/// - A reader whose copies fail again and again reads under a lock in the end, which it holds for
///   one copy. Only then may a writer have to wait for a reader, for the time of that copy.
/// - [`try_read`](Self::try_read) is a single optimistic try. Other libraries call its parts
///   `read_begin` and `read_retry`.
/// - It is never poisoned: if a writer panics, its copy is dropped, and the value does not change.
/// - The value is [`Plain`], since it is copied in pieces.
///
/// ```
/// use sinew::fiber;
/// use sinew::sync::SeqLock;
///
/// static RANGE: SeqLock<[u64; 2]> = SeqLock::new([0, 10]);
///
/// let writer = fiber::spawn(|| {
///     for _ in 0..100 {
///         let mut range = RANGE.write();
///         range[0] += 1;
///         range[1] += 1;
///     }
/// });
/// while !writer.is_finished() {
///     let [low, high] = RANGE.read();
///     assert_eq!(high - low, 10);
///     fiber::yield_now();
/// }
/// writer.join().unwrap();
/// assert_eq!(RANGE.read(), [100, 110]);
/// ```
pub struct SeqLock<T> {
    raw: RawSeqLock,
    /// # Invariant
    ///
    /// Behind a shared reference, written only inside `publish` of `raw`, by the writer that has
    /// the turn.
    words: Words<T>,
}

// A writer that panics changes nothing.
impl_unwind_safe!(SeqLock<T>);

impl<T: Plain> SeqLock<T> {
    /// Creates a lock with this value.
    #[inline]
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self { raw: RawSeqLock::new(), words: Words::new(value) }
    }

    /// Returns the value. While a writer publishes, this may be the old or the new value.
    #[inline]
    pub fn read(&self) -> T {
        let copy = self.raw.read(|| self.words.load());
        // SAFETY: `raw` returns only copies that no publication overlapped. By the invariant of
        // `words`, such a copy is one value.
        unsafe { copy.assume_init() }
    }

    /// Returns the value, unless a writer publishes at this moment. Tries once.
    #[inline]
    pub fn try_read(&self) -> Option<T> {
        let copy: MaybeUninit<T> = self.raw.try_read(|| self.words.load())?;
        // SAFETY: as above.
        Some(unsafe { copy.assume_init() })
    }

    /// Waits until there is no other writer, and returns a guard with a copy of the value. The copy
    /// becomes the value when the guard is dropped.
    ///
    /// # Panics
    ///
    /// Panics if the caller would have to wait and is inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    #[inline]
    pub fn write(&self) -> SeqLockWriteGuard<'_, T> {
        always(self.write_to(Limit::NEVER))
    }

    /// Returns a guard as [`write`](Self::write) does, unless there is another writer. Never waits.
    #[inline]
    pub fn try_write(&self) -> Option<SeqLockWriteGuard<'_, T>> {
        self.raw.try_begin().then(|| self.guard())
    }

    /// Returns a guard as [`write`](Self::write) does, but waits at most for `time`.
    pub fn try_write_for(&self, time: Duration) -> Option<SeqLockWriteGuard<'_, T>> {
        self.write_to(Limit::lasting(time)).ok()
    }

    /// Returns a guard as [`write`](Self::write) does, but waits until `deadline` at the latest.
    pub fn try_write_until(&self, deadline: Instant) -> Option<SeqLockWriteGuard<'_, T>> {
        self.write_to(Limit::until(Some(deadline))).ok()
    }

    /// Returns a guard as [`write`](Self::write) does, but [cancellation and
    /// deadlines](crate::fiber#stopping) end the wait.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller is stopped before it may write.
    #[track_caller]
    pub fn write_cancellable(&self) -> Result<SeqLockWriteGuard<'_, T>, Stopped> {
        unless_stopped(self.write_to(Limit::STOP))
    }

    fn write_to(&self, limit: Limit) -> Result<SeqLockWriteGuard<'_, T>, GaveUp> {
        self.raw.begin(limit).map(|()| self.guard())
    }

    /// Waits until there is no other writer, and replaces the value.
    ///
    /// ```
    /// use sinew::sync::SeqLock;
    ///
    /// let lock = SeqLock::new([0, 10]);
    /// lock.set([1, 11]);
    /// assert_eq!(lock.read(), [1, 11]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics as [`write`](Self::write) does.
    pub fn set(&self, value: T) {
        *self.write() = value;
    }

    /// Makes the guard for a caller that has just got the turn.
    #[inline]
    fn guard(&self) -> SeqLockWriteGuard<'_, T> {
        // The copy is the current value: only the holder of the turn publishes.
        let copy = self.read();
        SeqLockWriteGuard { lock: self, copy, was_unwinding: rt::is_unwinding(), not_send: PhantomData }
    }

    /// Returns a mutable reference to the value. It needs no lock, since `&mut self` excludes other
    /// users.
    pub fn get_mut(&mut self) -> &mut T {
        self.words.get_mut()
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.words.into_inner()
    }
}

impl<T: Plain> From<T> for SeqLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Plain + Default> Default for SeqLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: Plain + fmt::Debug> fmt::Debug for SeqLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeqLock").field("data", &self.read()).finish_non_exhaustive()
    }
}

/// The guard of a writer of a [`SeqLock`], with a copy of its value. The copy becomes the value
/// when the guard is dropped, unless a panic that began after the guard was created drops it.
///
/// As std's guard, it is not [`Send`]. It stays with the fiber or thread that acquired the lock:
///
/// ```compile_fail,E0277
/// use sinew::fiber;
/// use sinew::sync::SeqLock;
///
/// static LOCK: SeqLock<u32> = SeqLock::new(0);
/// let guard = LOCK.write();
/// fiber::spawn(move || drop(guard));
/// ```
#[must_use = "the value is written at once if the guard is not kept"]
#[clippy::has_significant_drop]
pub struct SeqLockWriteGuard<'a, T: Plain> {
    /// # Invariant
    ///
    /// This guard has the turn.
    lock: &'a SeqLock<T>,
    copy: T,
    was_unwinding: bool,
    /// Not `Send`, as the guards of other locks; `Sync` if the value is.
    not_send: PhantomData<std::sync::MutexGuard<'a, T>>,
}

impl<T: Plain> Deref for SeqLockWriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.copy
    }
}

impl<T: Plain> DerefMut for SeqLockWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.copy
    }
}

impl<T: Plain> Drop for SeqLockWriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.was_unwinding || !rt::is_unwinding() {
            self.lock.raw.publish(|| self.lock.words.store(&self.copy));
        }
        self.lock.raw.end();
    }
}

impl<T: Plain + fmt::Debug> fmt::Debug for SeqLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: Plain + fmt::Display> fmt::Display for SeqLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}
