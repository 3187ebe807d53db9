//! A value that the checker watches: two who touch it at once, one of them to change it, are found out.
//!
//! # Safety
//!
//! Trusted with nothing: what it lends without a lock, the checker watches.
#![expect(unsafe_code, reason = "the value is lent to whoever asks")]

use loom::cell::UnsafeCell;

/// A number.
pub(crate) struct Watched(UnsafeCell<u32>);

// SAFETY: the checker panics before two touch it at once.
unsafe impl Send for Watched {}
// SAFETY: as above.
unsafe impl Sync for Watched {}

impl Watched {
    pub(crate) fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    /// Changes it.
    pub(crate) fn add(&self) {
        // SAFETY: as for `Sync`.
        self.0.with_mut(|value| unsafe { *value += 1 });
    }

    /// Reads it.
    pub(crate) fn get(&self) -> u32 {
        // SAFETY: as for `Sync`.
        self.0.with(|value| unsafe { *value })
    }
}
