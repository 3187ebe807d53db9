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

use super::guards::{map_methods, show_as_value};
use super::mutex::MutexGuard;
use super::poison::{Before, Flag};
use crate::raw::RawMutex;

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    map_methods! {
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
        mut => MappedMutexGuard<'a> by into_parts
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

    map_methods! {
        /// The guard for a part of the part. As [`MutexGuard::map`].
        ///
        /// # Panics
        ///
        /// If the closure does. The lock is given back then, and poisoned.
        mut => MappedMutexGuard<'a> by into_parts
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

show_as_value!(MappedMutexGuard);
