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

use super::guards::{map_methods, mapped_guard, show_as_value};
use super::mutex::MutexGuard;
use super::poison::{Before, PoisonFlag};
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

mapped_guard! {
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
    MappedMutexGuard of RawMutex, given back by unlock
}
