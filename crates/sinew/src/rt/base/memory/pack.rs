//! A linked list of free blocks of one size. Knows no slab.
//!
//! # Safety
//!
//! Trusted with the links of blocks that are not in use.
#![expect(unsafe_code, reason = "blocks are linked while they are not in use")]

use std::ptr::NonNull;

/// How many blocks are in a full pack.
pub(super) const PACK: u32 = 128;

/// Blocks of one size.
///
/// # Invariant
///
/// `first` and its links are `count` blocks that this value owns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pack {
    pub(super) first: Option<NonNull<Free>>,
    pub(super) count: u32,
}

/// A block that is not in use.
#[derive(Debug)]
pub(super) struct Free {
    next: Option<NonNull<Free>>,
}

// SAFETY: memory is not bound to a thread.
unsafe impl Send for Pack {}

impl Pack {
    pub(super) const EMPTY: Self = Self { first: None, count: 0 };

    #[inline]
    pub(super) fn pop(&mut self) -> Option<NonNull<Free>> {
        let first = self.first?;
        // SAFETY: the invariant: this pack owns the block.
        self.first = unsafe { first.as_ref() }.next;
        self.count -= 1;
        Some(first)
    }

    /// # Safety
    ///
    /// The block has the size of the others, and is not in use.
    #[inline]
    pub(super) unsafe fn push(&mut self, block: NonNull<Free>) {
        // SAFETY: the caller's promise. All sizes have room for it, and all blocks have its
        // alignment.
        unsafe { block.write(Free { next: self.first }) };
        *self = Self { first: Some(block), count: self.count + 1 };
    }
}
