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

use super::guards::{map_methods, mapped_guard, shared_guard, show_as_value};
use super::poison::{Before, PoisonFlag};
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

shared_guard! {
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
    MappedRwLockReadGuard of RawRwLock
}

impl<'a, T: ?Sized> MappedRwLockReadGuard<'a, T> {
    map_methods! {
        /// The guard for a part of the part. As [`RwLockReadGuard::map`].
        ///
        /// # Panics
        ///
        /// If the closure does. The lock is given back then, and not poisoned.
        => MappedRwLockReadGuard<'a> by into_raw
    }
}

mapped_guard! {
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
    MappedRwLockWriteGuard of RawRwLock, given back by unlock_write
}
