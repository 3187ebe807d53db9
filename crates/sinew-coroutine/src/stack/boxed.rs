//! A `Box` that is an error where there is no memory for it, and not the end of the process. Knows no stack.
//!
//! # Safety
//!
//! Trusted with memory that the allocator just gave.
#![expect(unsafe_code, reason = "std has no stable way to allocate a box that may fail")]

use core::mem::MaybeUninit;
use std::alloc::{self, Layout};
use std::io;

/// Room for a value, to be filled by [`Box::write`].
pub(super) fn try_box<T>() -> io::Result<Box<MaybeUninit<T>>> {
    const { assert!(size_of::<T>() > 0) };
    // SAFETY: the layout is not that of nothing.
    let memory = unsafe { alloc::alloc(Layout::new::<T>()) };
    if memory.is_null() {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    // SAFETY: the allocator just gave it, with the layout of the value, which need not be there yet.
    Ok(unsafe { Box::from_raw(memory.cast()) })
}
