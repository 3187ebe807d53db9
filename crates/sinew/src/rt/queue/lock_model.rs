//! The twin of the lock of a wait queue that the checker can see into: its own mutex. That lock by itself has a model too.

use std::ops::{Deref, DerefMut};

/// A value under a lock.
#[derive(Debug)]
pub(crate) struct Guarded<T>(loom::sync::Mutex<T>);

impl<T> Guarded<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> Guard<'_, T> {
        Guard(self.0.lock().expect("a model does not panic"))
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().expect("a model does not panic")
    }
}

/// The right to the value.
pub(crate) struct Guard<'a, T>(loom::sync::MutexGuard<'a, T>);

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
