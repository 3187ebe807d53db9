//! A value that the checker watches: it reports a read or write that overlaps with a write.
//!
//! # Safety
//!
//! Trusted with nothing: it lends the value without a lock, and the checker watches each access.
#![expect(unsafe_code, reason = "the value is lent to any caller")]

use loom::cell::UnsafeCell;

/// A number.
pub(crate) struct Watched(UnsafeCell<u32>);

// SAFETY: the checker panics before two threads access it at once.
unsafe impl Send for Watched {}
// SAFETY: as above.
unsafe impl Sync for Watched {}

impl Watched {
    pub(crate) fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    /// Adds one.
    pub(crate) fn add(&self) {
        // SAFETY: as for `Sync`.
        self.0.with_mut(|value| unsafe { *value += 1 });
    }

    /// Returns the number.
    pub(crate) fn get(&self) -> u32 {
        // SAFETY: as for `Sync`.
        self.0.with(|value| unsafe { *value })
    }
}
