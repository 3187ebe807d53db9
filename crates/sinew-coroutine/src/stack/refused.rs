//! Ranges that the kernel would not unmap, and that are tried again later. Knows no stack.
//!
//! The kernel makes one mapping of neighbours that are alike. Unmapping the middle of one makes two of it, which is refused
//! to a process that has as many as it may have. The memory is given back even so; what is left is a range of addresses.
//!
//! # Safety
//!
//! Trusted with ranges that their owners gave up, until they are unmapped.
#![expect(unsafe_code, reason = "memory is unmapped")]

use std::sync::Mutex;

use super::sys::{self, Range};
use crate::sync::ignore_poison;

/// A range that waits to be unmapped.
///
/// # Invariant
///
/// Mapped, and nobody else's.
struct Refused(Range);

// SAFETY: a mapping belongs to no thread.
unsafe impl Send for Refused {}

static REFUSED: Mutex<Vec<Refused>> = Mutex::new(Vec::new());

/// Unmaps a range, now or later, and what was refused before.
///
/// # Safety
///
/// As for [`sys::unmap`].
pub(super) unsafe fn unmap(range: Range) {
    // SAFETY: the caller's promise.
    let unmapped = unsafe { sys::unmap(range) };
    let mut refused = ignore_poison(REFUSED.lock());
    // SAFETY: the invariant of each.
    refused.retain(|older| unsafe { sys::unmap(older.0) }.is_err());
    if unmapped.is_err() {
        // SAFETY: the caller's promise. If not even this is granted, the memory goes with the mapping.
        let _ = unsafe { sys::free_each(&[range]) };
        // Without memory to remember them, the addresses are lost.
        if refused.try_reserve(1).is_ok() {
            refused.push(Refused(range));
        }
    }
}
