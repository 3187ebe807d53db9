//! The value of a watch channel, behind a lock for readers and writers without poisoning. Knows
//! neither versions nor waiting receivers.
//!
//! # Safety
//!
//! Trusted with lending the value to the holders of the lock.
#![expect(unsafe_code, reason = "the value is lent by a lock")]

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use crate::raw::RawRwLock;
use crate::rt::{GaveUp, Limit};

/// The value and its lock.
pub(super) struct WatchValue<T> {
    lock: RawRwLock,
    /// # Invariant
    ///
    /// Read only by holders of `lock`, and changed only by the holder of `lock` to write.
    value: UnsafeCell<T>,
}

// SAFETY: it owns its value, which `T: Send` allows to move with it.
unsafe impl<T: Send> Send for WatchValue<T> {}
// SAFETY: by the invariant of `value`, writers pass it from one to the next, which `T: Send`
// allows, and readers share it, which `T: Sync` allows.
unsafe impl<T: Send + Sync> Sync for WatchValue<T> {}

impl<T> WatchValue<T> {
    pub(super) fn new(value: T) -> Self {
        Self { lock: RawRwLock::new(), value: UnsafeCell::new(value) }
    }

    /// Locks the value to read.
    ///
    /// # Errors
    ///
    /// Returns an error if the limit is reached before.
    pub(super) fn read(&self, limit: Limit) -> Result<Reading<'_, T>, GaveUp> {
        self.lock.read_within(limit)?;
        Ok(Reading { value: self, not_send: PhantomData })
    }

    /// Locks the value to write.
    pub(super) fn write(&self) -> Writing<'_, T> {
        self.lock.write();
        Writing { value: self, not_send: PhantomData }
    }
}

/// The value, locked to read. It is not `Send`, like the guards of std.
pub(super) struct Reading<'a, T> {
    /// # Invariant
    ///
    /// Locked to read by this guard.
    value: &'a WatchValue<T>,
    not_send: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives out shared references to the value only.
unsafe impl<T: Sync> Sync for Reading<'_, T> {}

impl<T> Deref for Reading<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the invariants of `Reading::value` and `WatchValue::value`.
        unsafe { &*self.value.value.get() }
    }
}

impl<T> Drop for Reading<'_, T> {
    fn drop(&mut self) {
        self.value.lock.unlock_read();
    }
}

/// The value, locked to write.
pub(super) struct Writing<'a, T> {
    /// # Invariant
    ///
    /// Locked to write by this guard.
    value: &'a WatchValue<T>,
    not_send: PhantomData<*const ()>,
}

impl<T> Deref for Writing<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the invariants of `Writing::value` and `WatchValue::value`.
        unsafe { &*self.value.value.get() }
    }
}

impl<T> DerefMut for Writing<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.value.value.get() }
    }
}

impl<T> Drop for Writing<'_, T> {
    fn drop(&mut self) {
        self.value.lock.unlock_write();
    }
}
