//! AddressSanitizer: which stack is in use, and which fake stack belongs to it. Knows no
//! ThreadSanitizer.
//!
//! # Safety
//!
//! Trusted with the calls of the sanitizer's interface. The calls about a switch come in pairs: a
//! start just before it, a finish just after it on the other stack.
#![expect(unsafe_code, reason = "the sanitizer's interface is C")]

use core::cell::Cell;
use core::ffi::c_void;
use core::ptr;

use super::Bounds;

// SAFETY: declared as in the sanitizer's public headers `common_interface_defs.h` and
// `asan_interface.h`.
unsafe extern "C" {
    fn __sanitizer_start_switch_fiber(fake_stack: *mut *mut c_void, bottom: *const c_void, size: usize);
    fn __sanitizer_finish_switch_fiber(
        fake_stack: *mut c_void,
        old_bottom: *mut *const c_void,
        old_size: *mut usize,
    );
    fn __asan_unpoison_memory_region(address: *const c_void, size: usize);
}

/// See the table in the parent module. Holds the bounds of the stack on which the coroutine
/// suspended.
pub(crate) struct Outside {
    bottom: Cell<*const c_void>,
    size: Cell<usize>,
}

impl Outside {
    #[inline(always)]
    pub(crate) fn new(_inside: *mut Inside, stack: Bounds) -> Self {
        forget_frames(stack);
        let (limit, size) = stack;
        Self { bottom: Cell::new(limit.as_ptr().cast_const().cast()), size: Cell::new(size) }
    }

    #[inline(always)]
    pub(crate) fn enter(&self) -> Crossing {
        let mut fake_stack = ptr::null_mut();
        // SAFETY: the bounds are those of the stack that the next switch goes to.
        unsafe { __sanitizer_start_switch_fiber(&raw mut fake_stack, self.bottom.get(), self.size.get()) };
        Crossing { fake_stack }
    }

    #[inline(always)]
    pub(crate) fn returned(&self, crossing: Crossing) {
        let (bottom, size) = (self.bottom.as_ptr(), self.size.as_ptr());
        // SAFETY: the fake stack is the one that `enter` saved on this same stack.
        unsafe { __sanitizer_finish_switch_fiber(crossing.fake_stack, bottom, size) };
    }
}

/// See the table in the parent module. An earlier coroutine has left poisoned memory on this stack:
/// its last frames never returned.
#[inline(always)]
pub(crate) fn forget_frames((limit, size): Bounds) {
    // SAFETY: the memory is the stack's, and nothing runs on it.
    unsafe { __asan_unpoison_memory_region(limit.as_ptr().cast_const().cast(), size) };
}

/// See the table in the parent module. Holds the fake stack that the resumer continues with.
#[must_use]
pub(crate) struct Crossing {
    fake_stack: *mut c_void,
}

/// See the table in the parent module. Holds this stack's fake stack, and the bounds of the
/// resumer's stack.
pub(crate) struct Inside {
    fake_stack: Cell<*mut c_void>,
    resumer_bottom: Cell<*const c_void>,
    resumer_size: Cell<usize>,
}

impl Inside {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self {
            fake_stack: Cell::new(ptr::null_mut()),
            resumer_bottom: Cell::new(ptr::null()),
            resumer_size: Cell::new(0),
        }
    }

    #[inline(always)]
    pub(crate) fn arrived(&self) {
        let (bottom, size) = (self.resumer_bottom.as_ptr(), self.resumer_size.as_ptr());
        // SAFETY: the fake stack is the one that `suspend` saved, or null on the first arrival.
        unsafe { __sanitizer_finish_switch_fiber(self.fake_stack.get(), bottom, size) };
    }

    #[inline(always)]
    pub(crate) fn suspend(&self) {
        let (bottom, size) = (self.resumer_bottom.get(), self.resumer_size.get());
        // SAFETY: the bounds are those of the stack that the next switch goes to.
        unsafe { __sanitizer_start_switch_fiber(self.fake_stack.as_ptr(), bottom, size) };
    }

    #[inline(always)]
    pub(crate) fn finish(&self) {
        let (bottom, size) = (self.resumer_bottom.get(), self.resumer_size.get());
        // SAFETY: as in `suspend`; the null tells the sanitizer to free this stack's fake stack.
        unsafe { __sanitizer_start_switch_fiber(ptr::null_mut(), bottom, size) };
    }
}
