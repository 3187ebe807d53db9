//! The guards of a reader-writer lock, as std's.
//!
//! # Safety
//!
//! Trusted to lend the value to the holders of the lock.
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
    /// The guard of a [`RwLock`] that is held for reading. It releases the lock when it is dropped.
    /// As [`std::sync::RwLockReadGuard`].
    ///
    /// As std's guard, it is not [`Send`]. It stays with the fiber or thread that acquired the
    /// lock:
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

/// The guard of a [`RwLock`] that is held for writing. It releases the lock when it is dropped. As
/// [`std::sync::RwLockWriteGuard`].
///
/// As std's guard, it is not [`Send`]. It stays with the fiber or thread that acquired the lock:
///
/// ```compile_fail,E0277
/// use sinew::fiber;
/// use sinew::sync::RwLock;
///
/// static LOCK: RwLock<u32> = RwLock::new(0);
/// let guard = LOCK.write().unwrap();
/// fiber::spawn(move || drop(guard));
/// ```
#[must_use = "the lock is released at once if the guard is not kept"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'a, T: ?Sized + 'a> {
    /// # Invariant
    ///
    /// The lock is held for writing, for this guard.
    lock: &'a RwLock<T>,
    before: Before,
    /// Not `Send`, as std's guards. A fiber that migrates takes its guards along.
    not_send: PhantomData<*const ()>,
}

// SAFETY: a shared reference to the guard only lends shared references to the value.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// # Safety
    ///
    /// The caller has acquired the lock for writing, and leaves its release to the guard.
    #[inline]
    pub(super) unsafe fn new(lock: &'a RwLock<T>) -> Self {
        Self { lock, before: lock.poison.enter(), not_send: PhantomData }
    }

    /// Returns the lock, still held for writing, and what is needed to release it. The caller must
    /// release it.
    #[inline]
    pub(super) fn into_parts(self) -> (&'a RawRwLock, &'a PoisonFlag, Before) {
        let this = ManuallyDrop::new(self);
        (&this.lock.raw, &this.lock.poison, this.before)
    }

    /// Turns a write guard into a read guard. No writer gets the lock in between. Waiting readers
    /// are let in, except those behind a waiting writer.
    ///
    /// This is an associated function, as in std, because a method could hide a method of the
    /// value.
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
        // SAFETY: the invariant of `lock`. Its guard is gone without a release, and the lock has
        // just become a reader's.
        unsafe { lock.reader() }
    }

    /// Turns a write guard into a read guard for a part of the value. No writer gets the lock in
    /// between. As tokio's `RwLockWriteGuard::downgrade_map`.
    ///
    /// This is an associated function, as [`downgrade`](Self::downgrade) is.
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
    /// Panics if the closure panics. The closure runs while the lock is held for writing, so its
    /// panic poisons the lock, as with [`map`](Self::map).
    pub fn downgrade_map<U, F>(orig: Self, f: F) -> MappedRwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
        U: ?Sized,
    {
        let value = NonNull::from(f(&*orig));
        // SAFETY: the closure returned a part of what it was lent, or something that lives long
        // enough.
        unsafe { orig.downgrade_to(value) }
    }

    /// Turns a write guard into a read guard for a part of the value, as
    /// [`downgrade_map`](Self::downgrade_map) does, if the closure returns a part. As tokio's
    /// `RwLockWriteGuard::try_downgrade_map`.
    ///
    /// ```
    /// use sinew::sync::{RwLock, RwLockWriteGuard};
    ///
    /// let lock = RwLock::new(vec![1, 2, 3]);
    /// let writer = lock.write().unwrap();
    /// let missing = RwLockWriteGuard::try_downgrade_map(writer, |list| list.get(3));
    /// let mut writer = missing.unwrap_err();
    /// writer.push(4);
    /// let last = RwLockWriteGuard::try_downgrade_map(writer, |list| list.get(3)).unwrap();
    /// assert_eq!((*last, lock.read().unwrap().len()), (4, 4));
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the original guard if the closure returns `None`. The lock is still held for
    /// writing.
    ///
    /// # Panics
    ///
    /// Panics as [`downgrade_map`](Self::downgrade_map) does.
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

    /// Turns this guard into a read guard for `value`.
    ///
    /// # Safety
    ///
    /// A reader of the lock may read `value`.
    unsafe fn downgrade_to<U: ?Sized>(self, value: NonNull<U>) -> MappedRwLockReadGuard<'a, U> {
        let (raw, ..) = self.into_parts();
        raw.downgrade();
        // SAFETY: the write guard is gone without a release, and the lock has just become a
        // reader's, for the new guard. The caller promises the rest.
        unsafe { MappedRwLockReadGuard::new(value, raw) }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the invariant of `lock`, and that of `RwLock::value`.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the invariant of `lock`, and that of `RwLock::value`.
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
