//! A mutex guard for a part of the value, as std has in nightly builds.
//!
//! # Safety
//!
//! Trusted to lend a part of the value to the holder of the lock.
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
        /// Returns a guard for a part of the value.
        ///
        /// This is an associated function, as in std, because a method could hide a method of the
        /// value.
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
        /// Panics if the closure panics. The lock is then released and poisoned.
        mut => MappedMutexGuard<'a> by into_parts
    }
}

mapped_guard! {
    /// A guard of a [`Mutex`](super::Mutex) for a part of its value. [`MutexGuard::map`] returns
    /// it. As `std::sync::MappedMutexGuard`.
    ///
    /// A [`Condvar`](super::Condvar) does not accept it. It stays with the fiber or thread that
    /// acquired the lock:
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
