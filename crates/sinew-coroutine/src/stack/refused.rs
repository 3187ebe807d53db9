//! Address ranges that the kernel refused to unmap, and that are tried again later. Knows no stack.
//!
//! The kernel merges neighboring mappings that are alike. Unmapping the middle of a merged mapping
//! splits it in two, which the kernel refuses if the process has its most mappings already. The
//! memory is freed even so; only the addresses stay in use.
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
/// Mapped, and owned by this value alone.
struct Refused(Range);

// SAFETY: a mapping belongs to no thread.
unsafe impl Send for Refused {}

static REFUSED: Mutex<Vec<Refused>> = Mutex::new(Vec::new());

/// Unmaps a range, now or later, and the ranges that were refused before.
///
/// # Safety
///
/// The same as for [`sys::unmap`].
pub(super) unsafe fn unmap(range: Range) {
    // SAFETY: the caller's promise.
    let unmapped = unsafe { sys::unmap(range) };
    let mut refused = ignore_poison(REFUSED.lock());
    // SAFETY: the invariant of each entry.
    refused.retain(|older| unsafe { sys::unmap(older.0) }.is_err());
    if unmapped.is_err() {
        // SAFETY: the caller's promise. If the kernel refuses this too, the memory is freed when
        // the range is unmapped.
        let _ = unsafe { sys::free_each(&[range]) };
        // Without memory to store the range, its addresses are lost.
        if refused.try_reserve(1).is_ok() {
            refused.push(Refused(range));
        }
    }
}
