//! Allocates a `Box`, and returns an error instead of ending the process if there is no memory.
//! Knows no stack.
//!
//! # Safety
//!
//! Trusted with memory that the allocator just returned.
#![expect(unsafe_code, reason = "std has no stable way to allocate a box that may fail")]

use core::mem::MaybeUninit;
use std::alloc::{self, Layout};
use std::io;

/// Allocates room for a value. [`Box::write`] stores the value in it.
pub(super) fn try_box<T>() -> io::Result<Box<MaybeUninit<T>>> {
    const { assert!(size_of::<T>() > 0) };
    // SAFETY: the layout has a size above zero.
    let memory = unsafe { alloc::alloc(Layout::new::<T>()) };
    if memory.is_null() {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    // SAFETY: the allocator just returned it for the layout of the value, and the value may be
    // uninitialized.
    Ok(unsafe { Box::from_raw(memory.cast()) })
}
