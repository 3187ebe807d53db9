//! A guard of a mutex for a part of its value, as std's in nightly builds.
//!
//! # Safety
//!
//! Trusted with lending a part of the value to whoever has the lock.
#![expect(unsafe_code, reason = "the value is lent by a lock")]

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::mutex::MutexGuard;
use super::poison::{Before, Flag};
use crate::raw::RawMutex;

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// The guard for a part of the value.
    ///
    /// Not a method, as std's is not: one might hide that of the value.
    ///
    /// ```
    /// use sinew::sync::{Mutex, MutexGuard};
    ///
    /// let mutex = Mutex::new((1, "one"));
    /// let mut number = MutexGuard::map(mutex.lock().unwrap(), |pair| &mut pair.0);
    /// *number = 2;
    /// drop(number);
    /// assert_eq!(*mutex.lock().unwrap(), (2, "one"));
    /// ```
    ///
    /// # Panics
    ///
    /// If the closure does. The lock is given back then, and poisoned.
    pub fn map<U, F>(mut orig: Self, f: F) -> MappedMutexGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
        U: ?Sized,
    {
        let value = NonNull::from(f(&mut *orig));
        // SAFETY: the closure had to return a part of what it was lent, whatever the lifetime of that, or something that lives as
        // long as it likes.
        unsafe { MappedMutexGuard::new(value, orig.into_parts()) }
    }

    /// The guard for a part of the value, if there is one.
    ///
    /// # Errors
    ///
    /// The guard as it was, if the closure says that there is none.
    ///
    /// # Panics
    ///
    /// As [`map`](Self::map).
    pub fn filter_map<U, F>(mut orig: Self, f: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
        U: ?Sized,
    {
        match f(&mut *orig).map(NonNull::from) {
            // SAFETY: as for `map`.
            Some(value) => Ok(unsafe { MappedMutexGuard::new(value, orig.into_parts()) }),
            None => Err(orig),
        }
    }
}

/// The lock of a [`Mutex`](super::Mutex), for a part of its value: what [`MutexGuard::map`] makes. As `std::sync::MappedMutexGuard`.
///
/// It cannot be given to a [`Condvar`](super::Condvar), and stays on the fiber, or the thread, that has it:
///
/// ```compile_fail,E0277
/// use sinew::fiber;
/// use sinew::sync::{Mutex, MutexGuard};
///
/// static MUTEX: Mutex<(u32, u32)> = Mutex::new((0, 0));
/// let guard = MutexGuard::map(MUTEX.lock().unwrap(), |pair| &mut pair.0);
/// fiber::spawn(move || drop(guard));
/// ```
#[must_use = "the lock is given back at once if the guard is not kept"]
#[clippy::has_significant_drop]
pub struct MappedMutexGuard<'a, T: ?Sized + 'a> {
    /// # Invariant
    ///
    /// A part of the value of the mutex that has `raw`, or something that lives as long; for nobody else as long as that is locked.
    value: NonNull<T>,
    /// # Invariant
    ///
    /// It is locked, for this guard.
    raw: &'a RawMutex,
    poison: &'a Flag,
    before: Before,
    /// The pointer would allow to make of a guard for long-lived values one that takes others.
    variance: PhantomData<&'a mut T>,
}

// SAFETY: a shared guard gives away shared references to the value, and no more.
unsafe impl<T: ?Sized + Sync> Sync for MappedMutexGuard<'_, T> {}

impl<'a, T: ?Sized> MappedMutexGuard<'a, T> {
    /// # Safety
    ///
    /// The lock is for this guard, and gives the right to change the value.
    unsafe fn new(value: NonNull<T>, (raw, poison, before): (&'a RawMutex, &'a Flag, Before)) -> Self {
        Self { value, raw, poison, before, variance: PhantomData }
    }

    fn into_parts(self) -> (&'a RawMutex, &'a Flag, Before) {
        let this = ManuallyDrop::new(self);
        (this.raw, this.poison, this.before)
    }

    /// The guard for a part of the part. As [`MutexGuard::map`].
    ///
    /// # Panics
    ///
    /// If the closure does. The lock is given back then, and poisoned.
    pub fn map<U, F>(mut orig: Self, f: F) -> MappedMutexGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
        U: ?Sized,
    {
        let value = NonNull::from(f(&mut *orig));
        // SAFETY: as for `MutexGuard::map`.
        unsafe { MappedMutexGuard::new(value, orig.into_parts()) }
    }

    /// The guard for a part of the part, if there is one. As [`MutexGuard::filter_map`].
    ///
    /// # Errors
    ///
    /// The guard as it was, if the closure says that there is none.
    ///
    /// # Panics
    ///
    /// As [`map`](Self::map).
    pub fn filter_map<U, F>(mut orig: Self, f: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
        U: ?Sized,
    {
        match f(&mut *orig).map(NonNull::from) {
            // SAFETY: as for `MutexGuard::map`.
            Some(value) => Ok(unsafe { MappedMutexGuard::new(value, orig.into_parts()) }),
            None => Err(orig),
        }
    }
}

impl<T: ?Sized> Deref for MappedMutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the invariants of `value` and `raw`.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for MappedMutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the invariants of `value` and `raw`.
        unsafe { self.value.as_mut() }
    }
}

impl<T: ?Sized> Drop for MappedMutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.poison.leave(self.before);
        self.raw.unlock();
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MappedMutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MappedMutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}
