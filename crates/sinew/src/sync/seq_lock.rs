//! A small value that many read and few write: reading takes no lock.
//!
//! # Safety
//!
//! Trusted with knowing which copies are one value.
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

/// A small value that many read and few write, for fibers and threads alike: whoever reads it copies it, and tries again if it has
/// changed meanwhile. Readers write nothing, so that they do not hold one another up, nor those who write.
///
/// - A writer works on a copy of its own, which is *published* when its guard is dropped. It may suspend meanwhile: readers get the
///   value that was there before, and neither wait nor spin. Other writers wait, and a fiber that waits gives its worker to others.
/// - A reader that is overtaken by writers again and again reads under a lock in the end, which is held for one copy. Only then a
///   writer may have to wait for a reader, for that long.
/// - [`try_read`](Self::try_read) is the one optimistic try: what `read_begin` and `read_retry` are elsewhere.
/// - It is never poisoned: if a writer panics, its copy is dropped, and the value stays what it was.
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
    /// Behind a shared reference, written only in a publication of `raw`, by whoever has the turn.
    words: Words<T>,
}

// A writer that panics changes nothing.
impl_unwind_safe!(SeqLock<T>);

impl<T: Plain> SeqLock<T> {
    /// One with this value.
    #[inline]
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self { raw: RawSeqLock::new(), words: Words::new(value) }
    }

    /// The value, or the one before, if one is being written.
    #[inline]
    pub fn read(&self) -> T {
        let copy = self.raw.read(|| self.words.load());
        // SAFETY: it was copied while nothing was published, which is the invariant of `words`.
        unsafe { copy.assume_init() }
    }

    /// The value, if nobody publishes another one at this moment. Tries once.
    #[inline]
    pub fn try_read(&self) -> Option<T> {
        let copy: MaybeUninit<T> = self.raw.try_read(|| self.words.load())?;
        // SAFETY: as above.
        Some(unsafe { copy.assume_init() })
    }

    /// Waits until nobody else writes, and lends a copy of the value, which becomes the value when the guard is dropped.
    ///
    /// # Panics
    ///
    /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
    #[inline]
    pub fn write(&self) -> SeqLockWriteGuard<'_, T> {
        always(self.write_to(Limit::NEVER))
    }

    /// [`write`](Self::write), if nobody else does.
    #[inline]
    pub fn try_write(&self) -> Option<SeqLockWriteGuard<'_, T>> {
        self.raw.try_begin().then(|| self.guard())
    }

    /// [`write`](Self::write), if the wait for others takes no longer than this.
    pub fn try_write_for(&self, time: Duration) -> Option<SeqLockWriteGuard<'_, T>> {
        self.write_to(Limit::lasting(time)).ok()
    }

    /// [`write`](Self::write), if the wait for others ends before this moment.
    pub fn try_write_until(&self, deadline: Instant) -> Option<SeqLockWriteGuard<'_, T>> {
        self.write_to(Limit::until(Some(deadline))).ok()
    }

    /// [`write`](Self::write), where [cancellation and deadlines](crate::fiber#stopping) count.
    ///
    /// # Errors
    ///
    /// If the caller is to stop before it may write.
    #[track_caller]
    pub fn write_cancellable(&self) -> Result<SeqLockWriteGuard<'_, T>, Stopped> {
        unless_stopped(self.write_to(Limit::STOP))
    }

    fn write_to(&self, limit: Limit) -> Result<SeqLockWriteGuard<'_, T>, GaveUp> {
        self.raw.begin(limit).map(|()| self.guard())
    }

    /// Waits until nobody else writes, and writes this.
    ///
    /// # Panics
    ///
    /// As [`write`](Self::write).
    pub fn set(&self, value: T) {
        *self.write() = value;
    }

    /// For whoever has the turn.
    #[inline]
    fn guard(&self) -> SeqLockWriteGuard<'_, T> {
        // Nobody else publishes.
        let copy = self.read();
        SeqLockWriteGuard { lock: self, copy, was_unwinding: rt::is_unwinding(), not_send: PhantomData }
    }

    /// The value, which nobody else can have now.
    pub fn get_mut(&mut self) -> &mut T {
        self.words.get_mut()
    }

    /// The value.
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

/// The right to write a [`SeqLock`], and a copy of its value, which becomes the value when this is dropped; not if it is dropped by
/// a panic that came after it.
///
/// As std's, it is not [`Send`]; no thread gets it but the one that has it:
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
    /// It is this guard's turn.
    lock: &'a SeqLock<T>,
    copy: T,
    was_unwinding: bool,
    /// Not to be sent, as the guards of other locks are not; shared if the value may be.
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
