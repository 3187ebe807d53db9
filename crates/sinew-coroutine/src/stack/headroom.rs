//! The address space that stacks leave to others. Knows no stack.
//!
//! Where address space is limited, slabs would take all of it, down to the last stack that fits, and
//! the next allocation of anybody would end the process.
//!
//! # Safety
//!
//! Trusted with a mapping of its own, which it undoes at once.
#![expect(unsafe_code, reason = "what was mapped is unmapped")]

use super::{refused, sys};

/// As much as the largest slab: enough for the allocator, and for the stacks of some threads.
const HEADROOM: usize = 64 << 20;

/// Returns whether there is address space to leave to others. Only a lack of it counts: what else the
/// kernel may refuse a mapping for says nothing about that.
pub(super) fn is_left() -> bool {
    match sys::map_nothing(HEADROOM) {
        Ok(start) => {
            // SAFETY: it was just mapped, and nobody uses it.
            unsafe { refused::unmap((start, HEADROOM)) };
            true
        }
        Err(error) => error.raw_os_error() != Some(libc::ENOMEM),
    }
}
