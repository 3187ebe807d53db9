//! The record of a stack of a pool. It is stored beside the stack: no byte of it lies on the stack
//! itself.
//!
//! # Safety
//!
//! Trusted with a label that is written by the stack's holder and read by a signal handler on the
//! thread that runs on the stack.
#![expect(unsafe_code, reason = "the label is shared with a signal handler")]

use core::cell::UnsafeCell;
use core::ptr::NonNull;

use super::label::Label;
use super::slab::Slab;

/// The record of one stack.
pub(crate) struct Slot {
    /// The slab that the stack is in. It outlives its slots.
    pub(super) slab: NonNull<Slab>,
    /// The index of the stack in its slab.
    pub(super) index: u32,
    /// The lowest usable byte of the stack.
    pub(crate) limit: NonNull<u8>,
    /// One past the highest usable byte.
    pub(crate) top: NonNull<u8>,
    /// # Invariant
    ///
    /// Written only by the exclusive owner of the stack's handle, while nothing runs on the stack.
    /// Read by a signal handler on the thread that runs on the stack.
    label: UnsafeCell<Option<Label>>,
}

// SAFETY: the invariant of `label`; the other fields do not change.
unsafe impl Sync for Slot {}
// SAFETY: as above.
unsafe impl Send for Slot {}

impl Slot {
    pub(super) fn new(slab: NonNull<Slab>, index: u32, (limit, top): (NonNull<u8>, NonNull<u8>)) -> Self {
        Self { slab, index, limit, top, label: UnsafeCell::new(None) }
    }

    /// Sets which code will run on the stack.
    ///
    /// # Safety
    ///
    /// The caller owns the stack's handle exclusively, and nothing runs on the stack.
    #[inline]
    pub(super) unsafe fn set_label(&self, label: Option<Label>) {
        // SAFETY: the invariant of `label`, by the caller's promise.
        unsafe { *self.label.get() = label };
    }

    /// Returns the label of the code that runs on the stack.
    ///
    /// # Safety
    ///
    /// The caller runs on the stack, or in a signal handler that interrupted it.
    pub(crate) unsafe fn label(&self) -> Option<Label> {
        // SAFETY: the invariant of `label`, by the caller's promise.
        unsafe { *self.label.get() }
    }
}
