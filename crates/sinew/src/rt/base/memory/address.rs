//! Addresses of memory that threads share, in order. Knows nothing of what is there.
//!
//! # Safety
//!
//! Trusted with nothing but passing addresses between threads.
#![expect(unsafe_code, reason = "a pointer is sent to other threads")]

use std::ptr::NonNull;

/// The address of a slab or of a block. One type for both, so that ordered sets are compiled once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Address(pub(super) NonNull<u8>);

// SAFETY: memory belongs to no thread.
unsafe impl Send for Address {}
