//! ThreadSanitizer: which of its fibers runs. Knows no AddressSanitizer.
//!
//! # Safety
//!
//! Trusted with the calls of the sanitizer's fiber interface: the sanitizer switches fibers just
//! before the stack switch, and a fiber is destroyed once its stack is done.
#![expect(unsafe_code, reason = "the sanitizer's interface is C")]

use core::cell::Cell;
use core::ffi::{c_uint, c_void};
use core::ptr;

use super::Bounds;

// SAFETY: declared as in the sanitizer's public header `tsan_interface.h`.
unsafe extern "C" {
    fn __tsan_get_current_fiber() -> *mut c_void;
    fn __tsan_create_fiber(flags: c_uint) -> *mut c_void;
    fn __tsan_destroy_fiber(fiber: *mut c_void);
    fn __tsan_switch_to_fiber(fiber: *mut c_void, flags: c_uint);
}

/// See the table in the parent module. Holds the sanitizer's handle of the coroutine.
pub(crate) struct Outside {
    fiber: *mut c_void,
    /// # Invariant
    ///
    /// Points to the `Inside` on the coroutine's stack, which is valid until the coroutine is done.
    inside: *mut Inside,
}

impl Outside {
    #[inline(always)]
    pub(crate) fn new(inside: *mut Inside, _stack: Bounds) -> Self {
        // SAFETY: no precondition.
        Self { fiber: unsafe { __tsan_create_fiber(0) }, inside }
    }

    #[inline(always)]
    pub(crate) fn enter(&self) -> Crossing {
        // SAFETY: no precondition.
        let resumer = unsafe { __tsan_get_current_fiber() };
        // SAFETY: the invariant of `inside`: the coroutine is about to be switched to, so it is not
        // done.
        let inside = unsafe { &*self.inside };
        inside.resumer.set(resumer);
        let left_on = inside.left_on.get();
        let fiber = if left_on.is_null() { self.fiber } else { left_on };
        // SAFETY: the own fiber is destroyed only with `self`. If the coroutine suspended on the
        // stack of another coroutine, that coroutine's fiber outlives the frames there.
        unsafe { __tsan_switch_to_fiber(fiber, 0) };
        Crossing
    }

    #[inline(always)]
    pub(crate) fn returned(&self, _crossing: Crossing) {}
}

impl Drop for Outside {
    fn drop(&mut self) {
        // SAFETY: the coroutine is done, so nothing switches to its fiber again.
        unsafe { __tsan_destroy_fiber(self.fiber) };
    }
}

/// See the table in the parent module.
#[inline(always)]
pub(crate) fn forget_frames(_stack: Bounds) {}

/// See the table in the parent module.
#[must_use]
pub(crate) struct Crossing;

/// See the table in the parent module. Holds the sanitizer's handles of the resumer, and of the
/// stack on which the coroutine suspended (null before the first time).
pub(crate) struct Inside {
    resumer: Cell<*mut c_void>,
    left_on: Cell<*mut c_void>,
}

impl Inside {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { resumer: Cell::new(ptr::null_mut()), left_on: Cell::new(ptr::null_mut()) }
    }

    #[inline(always)]
    pub(crate) fn arrived(&self) {}

    #[inline(always)]
    pub(crate) fn suspend(&self) {
        // SAFETY: no precondition.
        self.left_on.set(unsafe { __tsan_get_current_fiber() });
        // SAFETY: the resumer waits in its switch, so its fiber is alive.
        unsafe { __tsan_switch_to_fiber(self.resumer.get(), 0) };
    }

    #[inline(always)]
    pub(crate) fn finish(&self) {
        self.suspend();
    }
}
