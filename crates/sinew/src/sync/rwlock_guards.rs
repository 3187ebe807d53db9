//! The guards of a lock for readers and writers, as std's.
//!
//! # Safety
//!
//! Trusted with lending the value to those who have the lock.
#![expect(unsafe_code, reason = "the value is lent by a lock")]

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::guards::{shared_guard, show_as_value};
use super::poison::{Before, PoisonFlag};
use super::rwlock::RwLock;
use super::rwlock_mapped::MappedRwLockReadGuard;
use crate::raw::RawRwLock;

shared_guard! {
    /// The right to read what is in a [`RwLock`], which is given back when this is dropped. As [`std::sync::RwLockReadGuard`].
    ///
    /// As std's, it is not [`Send`]; no thread gets it but the one that has it:
    ///
    /// ```compile_fail,E0277
    /// use sinew::fiber;
    /// use sinew::sync::RwLock;
    ///
    /// static LOCK: RwLock<u32> = RwLock::new(0);
    /// let guard = LOCK.read().unwrap();
    /// fiber::spawn(move || drop(guard));
    /// ```
    RwLockReadGuard of RawRwLock
}

/// The right to change what is in a [`RwLock`], which is given back when this is dropped. As [`std::sync::RwLockWriteGuard`].
///
/// As std's, it is not [`Send`]; no thread gets it but the one that has it:
///
/// ```compile_fail,E0277
/// use sinew::fiber;
/// use sinew::sync::RwLock;
///
/// static LOCK: RwLock<u32> = RwLock::new(0);
/// let guard = LOCK.write().unwrap();
/// fiber::spawn(move || drop(guard));
/// ```
#[must_use = "the lock is given back at once if the guard is not kept"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'a, T: ?Sized + 'a> {
    /// # Invariant
    ///
    /// It is locked to write, for this guard.
    lock: &'a RwLock<T>,
    before: Before,
    /// As for std's. A fiber that may move takes its guards along.
    not_send: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives away shared references to the value, and no more.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// # Safety
    ///
    /// The lock has been taken to write, for this guard.
    #[inline]
    pub(super) unsafe fn new(lock: &'a RwLock<T>) -> Self {
        Self { lock, before: lock.poison.enter(), not_send: PhantomData }
    }

    /// The lock, still taken to write, for the caller, and what is needed to give it back.
    #[inline]
    pub(super) fn into_parts(self) -> (&'a RawRwLock, &'a PoisonFlag, Before) {
        let this = ManuallyDrop::new(self);
        (&this.lock.raw, &this.lock.poison, this.before)
    }

    /// Keeps the lock to read only. No writer has it in between, and readers that wait come in, unless a writer waits before them.
    ///
    /// Not a method, as std's is not: one might hide that of the value.
    ///
    /// ```
    /// use sinew::sync::{RwLock, RwLockWriteGuard};
    ///
    /// let lock = RwLock::new(1);
    /// let mut writer = lock.write().unwrap();
    /// *writer = 2;
    /// let reader = RwLockWriteGuard::downgrade(writer);
    /// assert_eq!(*reader, *lock.read().unwrap());
    /// assert!(lock.try_write().is_err());
    /// ```
    pub fn downgrade(s: Self) -> RwLockReadGuard<'a, T> {
        let lock = ManuallyDrop::new(s).lock;
        lock.raw.downgrade();
        // SAFETY: the invariant of `lock`, whose guard is gone without giving it back: it has just become a reader's.
        unsafe { lock.reader() }
    }

    /// Keeps the lock to read only, with a guard for a part of the value. No writer gets the lock
    /// in between. As tokio's `RwLockWriteGuard::downgrade_map`.
    ///
    /// Not a method, as [`downgrade`](Self::downgrade) is not.
    ///
    /// ```
    /// use sinew::sync::{RwLock, RwLockWriteGuard};
    ///
    /// let lock = RwLock::new((1, "one"));
    /// let mut writer = lock.write().unwrap();
    /// *writer = (2, "two");
    /// let name = RwLockWriteGuard::downgrade_map(writer, |pair| pair.1);
    /// assert_eq!((&*name, lock.read().unwrap().0), ("two", 2));
    /// assert!(lock.try_write().is_err());
    /// ```
    ///
    /// # Panics
    ///
    /// If the closure does. It runs while the lock is held to write, so the lock is poisoned then,
    /// as by [`map`](Self::map).
    pub fn downgrade_map<U, F>(orig: Self, f: F) -> MappedRwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
        U: ?Sized,
    {
        let value = NonNull::from(f(&*orig));
        // SAFETY: the closure returned a part of what it was lent, or something that outlives it.
        unsafe { orig.downgrade_to(value) }
    }

    /// [`downgrade_map`](Self::downgrade_map) if the closure returns a part. As tokio's
    /// `RwLockWriteGuard::try_downgrade_map`.
    ///
    /// ```
    /// use sinew::sync::{RwLock, RwLockWriteGuard};
    ///
    /// let lock = RwLock::new(vec![1, 2, 3]);
    /// let writer = lock.write().unwrap();
    /// let mut writer = RwLockWriteGuard::try_downgrade_map(writer, |list| list.get(3)).unwrap_err();
    /// writer.push(4);
    /// let last = RwLockWriteGuard::try_downgrade_map(writer, |list| list.get(3)).unwrap();
    /// assert_eq!((*last, lock.read().unwrap().len()), (4, 4));
    /// ```
    ///
    /// # Errors
    ///
    /// The guard as it was, if the closure returns `None`. The lock is still held to write.
    ///
    /// # Panics
    ///
    /// As [`downgrade_map`](Self::downgrade_map).
    pub fn try_downgrade_map<U, F>(orig: Self, f: F) -> Result<MappedRwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
        U: ?Sized,
    {
        match f(&*orig).map(NonNull::from) {
            // SAFETY: as for `downgrade_map`.
            Some(value) => Ok(unsafe { orig.downgrade_to(value) }),
            None => Err(orig),
        }
    }

    /// Makes this a reader's guard of `value`.
    ///
    /// # Safety
    ///
    /// A reader of the lock may read `value`.
    unsafe fn downgrade_to<U: ?Sized>(self, value: NonNull<U>) -> MappedRwLockReadGuard<'a, U> {
        let (raw, ..) = self.into_parts();
        raw.downgrade();
        // SAFETY: the writer's guard is gone without an unlock and the lock has just become a
        // reader's, for the new guard. The rest is the caller's promise.
        unsafe { MappedRwLockReadGuard::new(value, raw) }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the invariant of `lock`, and that of its value.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the invariant of `lock`, and that of its value.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.poison.leave(self.before);
        self.lock.raw.unlock_write();
    }
}

show_as_value!(RwLockWriteGuard);
