//! Some blocks of one size, linked together. Knows no slab.
//!
//! # Safety
//!
//! Trusted with the links of blocks that nobody uses.
#![expect(unsafe_code, reason = "blocks are linked while nobody uses them")]

use std::ptr::NonNull;

/// How many blocks are in a full pack.
pub(super) const PACK: u32 = 128;

/// Blocks of one size.
///
/// # Invariant
///
/// `first` and what it links to are `count` blocks that nobody else has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pack {
    pub(super) first: Option<NonNull<Free>>,
    pub(super) count: u32,
}

/// A block that nobody uses.
#[derive(Debug)]
pub(super) struct Free {
    next: Option<NonNull<Free>>,
}

// SAFETY: memory belongs to no thread.
unsafe impl Send for Pack {}

impl Pack {
    pub(super) const EMPTY: Self = Self { first: None, count: 0 };

    #[inline]
    pub(super) fn pop(&mut self) -> Option<NonNull<Free>> {
        let first = self.first?;
        // SAFETY: the invariant: it is ours.
        self.first = unsafe { first.as_ref() }.next;
        self.count -= 1;
        Some(first)
    }

    /// # Safety
    ///
    /// The block is of the size of the others, and nobody uses it.
    #[inline]
    pub(super) unsafe fn push(&mut self, block: NonNull<Free>) {
        // SAFETY: the caller's promise; all sizes have room for it, and all blocks its alignment.
        unsafe { block.write(Free { next: self.first }) };
        *self = Self { first: Some(block), count: self.count + 1 };
    }
}
