//! Guards of a lock for readers and writers for a part of its value, as std's in nightly builds.
//!
//! # Safety
//!
//! Trusted with lending a part of the value to those who have the lock.
#![expect(unsafe_code, reason = "the value is lent by a lock")]

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::guards::{map_methods, show_as_value};
use super::poison::{Before, Flag};
use super::rwlock_guards::{RwLockReadGuard, RwLockWriteGuard};
use crate::raw::RawRwLock;

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    map_methods! {
        /// The guard for a part of the value.
        ///
        /// Not a method, as std's is not: one might hide that of the value.
        ///
        /// ```
        /// use sinew::sync::{RwLock, RwLockReadGuard};
        ///
        /// let lock = RwLock::new((1, "one"));
        /// let name = RwLockReadGuard::map(lock.read().unwrap(), |pair| pair.1);
        /// assert_eq!(&*name, "one");
        /// ```
        ///
        /// # Panics
        ///
        /// If the closure does. The lock is given back then, and not poisoned.
        => MappedRwLockReadGuard<'a> by into_raw
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    map_methods! {
        /// The guard for a part of the value.
        ///
        /// Not a method, as std's is not: one might hide that of the value.
        ///
        /// ```
        /// use sinew::sync::{RwLock, RwLockWriteGuard};
        ///
        /// let lock = RwLock::new((1, "one"));
        /// let mut number = RwLockWriteGuard::map(lock.write().unwrap(), |pair| &mut pair.0);
        /// *number = 2;
        /// drop(number);
        /// assert_eq!(*lock.read().unwrap(), (2, "one"));
        /// ```
        ///
        /// # Panics
        ///
        /// If the closure does. The lock is given back then, and poisoned.
        mut => MappedRwLockWriteGuard<'a> by into_parts
    }
}

/// The right to read a part of what is in a [`RwLock`](super::RwLock): what [`RwLockReadGuard::map`] makes. As
/// `std::sync::MappedRwLockReadGuard`.
///
/// As std's, it is not [`Send`]; no thread gets it but the one that has it:
///
/// ```compile_fail,E0277
/// use sinew::fiber;
/// use sinew::sync::{RwLock, RwLockReadGuard};
///
/// static LOCK: RwLock<(u32, u32)> = RwLock::new((0, 0));
/// let guard = RwLockReadGuard::map(LOCK.read().unwrap(), |pair| &pair.0);
/// fiber::spawn(move || drop(guard));
/// ```
#[must_use = "the lock is given back at once if the guard is not kept"]
#[clippy::has_significant_drop]
pub struct MappedRwLockReadGuard<'a, T: ?Sized + 'a> {
    /// # Invariant
    ///
    /// A part of the value of the lock that has `raw`, or something that lives as long; nobody changes it as long as that is locked to
    /// read.
    value: NonNull<T>,
    /// # Invariant
    ///
    /// It is locked to read, for this guard.
    raw: &'a RawRwLock,
}

// SAFETY: a shared guard gives away shared references to the value, and no more.
unsafe impl<T: ?Sized + Sync> Sync for MappedRwLockReadGuard<'_, T> {}

impl<'a, T: ?Sized> MappedRwLockReadGuard<'a, T> {
    /// # Safety
    ///
    /// The lock is for this guard, and gives the right to read the value.
    pub(super) unsafe fn new(value: NonNull<T>, raw: &'a RawRwLock) -> Self {
        Self { value, raw }
    }

    fn into_raw(self) -> &'a RawRwLock {
        ManuallyDrop::new(self).raw
    }

    map_methods! {
        /// The guard for a part of the part. As [`RwLockReadGuard::map`].
        ///
        /// # Panics
        ///
        /// If the closure does. The lock is given back then, and not poisoned.
        => MappedRwLockReadGuard<'a> by into_raw
    }
}

impl<T: ?Sized> Deref for MappedRwLockReadGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the invariants of `value` and `raw`.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> Drop for MappedRwLockReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.raw.unlock_read();
    }
}

/// The right to change a part of what is in a [`RwLock`](super::RwLock): what [`RwLockWriteGuard::map`] makes. As
/// `std::sync::MappedRwLockWriteGuard`.
///
/// It cannot be downgraded, as std's cannot: who has mapped it may rely on nobody reading the rest of the value. It stays on the
/// fiber, or the thread, that has it:
///
/// ```compile_fail,E0277
/// use sinew::fiber;
/// use sinew::sync::{RwLock, RwLockWriteGuard};
///
/// static LOCK: RwLock<(u32, u32)> = RwLock::new((0, 0));
/// let guard = RwLockWriteGuard::map(LOCK.write().unwrap(), |pair| &mut pair.0);
/// fiber::spawn(move || drop(guard));
/// ```
#[must_use = "the lock is given back at once if the guard is not kept"]
#[clippy::has_significant_drop]
pub struct MappedRwLockWriteGuard<'a, T: ?Sized + 'a> {
    /// # Invariant
    ///
    /// A part of the value of the lock that has `raw`, or something that lives as long; for nobody else as long as that is locked.
    value: NonNull<T>,
    /// # Invariant
    ///
    /// It is locked to write, for this guard.
    raw: &'a RawRwLock,
    poison: &'a Flag,
    before: Before,
    /// The pointer would allow to make of a guard for long-lived values one that takes others.
    variance: PhantomData<&'a mut T>,
}

// SAFETY: a shared guard gives away shared references to the value, and no more.
unsafe impl<T: ?Sized + Sync> Sync for MappedRwLockWriteGuard<'_, T> {}

impl<'a, T: ?Sized> MappedRwLockWriteGuard<'a, T> {
    /// # Safety
    ///
    /// The lock is for this guard, and gives the right to change the value.
    unsafe fn new(value: NonNull<T>, (raw, poison, before): (&'a RawRwLock, &'a Flag, Before)) -> Self {
        Self { value, raw, poison, before, variance: PhantomData }
    }

    fn into_parts(self) -> (&'a RawRwLock, &'a Flag, Before) {
        let this = ManuallyDrop::new(self);
        (this.raw, this.poison, this.before)
    }

    map_methods! {
        /// The guard for a part of the part. As [`RwLockWriteGuard::map`].
        ///
        /// # Panics
        ///
        /// If the closure does. The lock is given back then, and poisoned.
        mut => MappedRwLockWriteGuard<'a> by into_parts
    }
}

impl<T: ?Sized> Deref for MappedRwLockWriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the invariants of `value` and `raw`.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for MappedRwLockWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the invariants of `value` and `raw`.
        unsafe { self.value.as_mut() }
    }
}

impl<T: ?Sized> Drop for MappedRwLockWriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.poison.leave(self.before);
        self.raw.unlock_write();
    }
}

show_as_value!(MappedRwLockReadGuard, MappedRwLockWriteGuard);
