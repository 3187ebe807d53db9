//! The address space that stacks leave to other allocations. Knows no stack.
//!
//! Where address space is limited, slabs would take all of it, down to the last stack that fits.
//! The next allocation anywhere in the process would then end the process.
//!
//! # Safety
//!
//! Trusted with a mapping of its own, which it unmaps at once.
#![expect(unsafe_code, reason = "what was mapped is unmapped")]

use super::{refused, sys};

/// As much as the largest slab: enough for the allocator, and for the stacks of some threads.
const HEADROOM: usize = 64 << 20;

/// Returns whether there is address space to leave to others. Only a lack of address space counts:
/// other reasons for the kernel to refuse a mapping say nothing about it.
pub(super) fn is_left() -> bool {
    match sys::map_nothing(HEADROOM) {
        Ok(start) => {
            // SAFETY: it was mapped above, and no code uses it.
            unsafe { refused::unmap((start, HEADROOM)) };
            true
        }
        Err(error) => error.raw_os_error() != Some(libc::ENOMEM),
    }
}
