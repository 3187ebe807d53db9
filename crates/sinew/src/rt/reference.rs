//! A counted reference to a fiber, for handles that do not join.
//!
//! # Safety
//!
//! Trusted with one reference per value.
#![expect(unsafe_code, reason = "fibers are counted by hand")]

use std::ptr::NonNull;

use super::control::Control;

/// A reference to a fiber.
#[derive(Debug)]
pub(crate) struct FiberRef {
    /// # Invariant
    ///
    /// A reference of this value's own.
    control: NonNull<Control>,
}

// SAFETY: a block is shared between threads.
unsafe impl Send for FiberRef {}
// SAFETY: as above.
unsafe impl Sync for FiberRef {}

impl FiberRef {
    /// One more reference to a fiber.
    ///
    /// # Safety
    ///
    /// The fiber is there.
    pub(crate) unsafe fn new(control: NonNull<Control>) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Control::add_ref(control) };
        Self { control }
    }

    pub(crate) fn get(&self) -> &Control {
        // SAFETY: the invariant.
        unsafe { self.control.as_ref() }
    }

    pub(crate) fn unpark(&self) {
        Control::unpark(self.control);
    }
}

impl Clone for FiberRef {
    fn clone(&self) -> Self {
        // SAFETY: the invariant.
        unsafe { Self::new(self.control) }
    }
}

impl Drop for FiberRef {
    fn drop(&mut self) {
        // SAFETY: the invariant.
        unsafe { Control::release(self.control) };
    }
}
