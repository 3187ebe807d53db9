//! Memory for tables and slots. Knows neither.
//!
//! It comes from the system's allocator, because the program's global allocator may use
//! fiber-locals itself, for example to count what each fiber allocates. If the first use of a
//! fiber-local allocated through the global allocator, that would call itself without end.
//!
//! # Safety
//!
//! Trusted with memory that it takes from the system's allocator and returns to it.
#![expect(unsafe_code, reason = "allocates without the global allocator")]

use std::alloc::{GlobalAlloc, Layout, System, handle_alloc_error};
use std::ptr::NonNull;

/// Moves a value to memory of its own, which stays valid until [`free`] is called.
pub(super) fn leak<T>(value: T) -> NonNull<T> {
    const { assert!(size_of::<T>() > 0, "the system's allocator gives no empty memory") };
    let layout = Layout::new::<T>();
    // SAFETY: the layout is not empty.
    let memory = unsafe { System.alloc(layout) }.cast::<T>();
    let Some(memory) = NonNull::new(memory) else { handle_alloc_error(layout) };
    // SAFETY: it was just allocated for this type, and no other code has the pointer.
    unsafe { memory.write(value) };
    memory
}

/// Drops a value and frees its memory.
///
/// # Safety
///
/// The pointer comes from [`leak`], and is not used any more.
pub(super) unsafe fn free<T>(memory: NonNull<T>) {
    // SAFETY: the caller's promise.
    unsafe { memory.drop_in_place() };
    // SAFETY: the caller's promise. It was allocated with this layout.
    unsafe { System.dealloc(memory.as_ptr().cast(), Layout::new::<T>()) };
}
