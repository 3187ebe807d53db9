//! Guards of a reader-writer lock for a part of the value, as std has in nightly builds.
//!
//! # Safety
//!
//! Trusted to lend a part of the value to the holders of the lock.
#![expect(unsafe_code, reason = "the value is lent by a lock")]

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::guards::{map_methods, mapped_guard, shared_guard, show_as_value};
use super::poison::{Before, PoisonFlag};
use super::rwlock_guards::{RwLockReadGuard, RwLockWriteGuard};
use crate::raw::RawRwLock;

impl<'a, T: ?Sized> RwLockReadGuard<'a, T> {
    map_methods! {
        /// Returns a guard for a part of the value.
        ///
        /// This is an associated function, as in std, because a method could hide a method of the
        /// value.
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
        /// Panics if the closure panics. The lock is then released and not poisoned.
        => MappedRwLockReadGuard<'a> by into_raw
    }
}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    map_methods! {
        /// Returns a guard for a part of the value.
        ///
        /// This is an associated function, as in std, because a method could hide a method of the
        /// value.
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
        /// Panics if the closure panics. The lock is then released and poisoned.
        mut => MappedRwLockWriteGuard<'a> by into_parts
    }
}

shared_guard! {
    /// A guard of a [`RwLock`](super::RwLock) that is held for reading, for a part of its value.
    /// [`RwLockReadGuard::map`] returns it. As `std::sync::MappedRwLockReadGuard`.
    ///
    /// As std's guard, it is not [`Send`]. It stays with the fiber or thread that acquired the
    /// lock:
    ///
    /// ```compile_fail,E0277
    /// use sinew::fiber;
    /// use sinew::sync::{RwLock, RwLockReadGuard};
    ///
    /// static LOCK: RwLock<(u32, u32)> = RwLock::new((0, 0));
    /// let guard = RwLockReadGuard::map(LOCK.read().unwrap(), |pair| &pair.0);
    /// fiber::spawn(move || drop(guard));
    /// ```
    MappedRwLockReadGuard of RawRwLock
}

impl<'a, T: ?Sized> MappedRwLockReadGuard<'a, T> {
    map_methods! {
        /// Returns a guard for a part of this part, as [`RwLockReadGuard::map`] does.
        ///
        /// # Panics
        ///
        /// Panics if the closure panics. The lock is then released and not poisoned.
        => MappedRwLockReadGuard<'a> by into_raw
    }
}

mapped_guard! {
    /// A guard of a [`RwLock`](super::RwLock) that is held for writing, for a part of its value.
    /// [`RwLockWriteGuard::map`] returns it. As `std::sync::MappedRwLockWriteGuard`.
    ///
    /// As std's, it cannot be downgraded: its holder may rely on no other caller reading the rest
    /// of the value. It stays with the fiber or thread that acquired the lock:
    ///
    /// ```compile_fail,E0277
    /// use sinew::fiber;
    /// use sinew::sync::{RwLock, RwLockWriteGuard};
    ///
    /// static LOCK: RwLock<(u32, u32)> = RwLock::new((0, 0));
    /// let guard = RwLockWriteGuard::map(LOCK.write().unwrap(), |pair| &mut pair.0);
    /// fiber::spawn(move || drop(guard));
    /// ```
    MappedRwLockWriteGuard of RawRwLock, given back by unlock_write
}
