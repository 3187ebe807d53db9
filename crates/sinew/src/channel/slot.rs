//! A slot for one message, which may be empty. Does not know whether it is.
//!
//! # Safety
//!
//! Trusted with the memory of a message: callers ensure that the message is there, and that no
//! other thread accesses the slot.
#![expect(unsafe_code, reason = "whether a message is there, is known elsewhere")]

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

/// The slot. Dropping it does not drop the message in it.
pub(super) struct Slot<T>(UnsafeCell<MaybeUninit<T>>);

impl<T> Slot<T> {
    pub(super) fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// Stores a message.
    ///
    /// # Safety
    ///
    /// No other thread accesses the slot, and it is empty.
    #[inline]
    pub(super) unsafe fn put(&self, message: T) {
        // SAFETY: the caller's promise.
        let place = unsafe { &mut *self.0.get() };
        place.write(message);
    }

    /// Takes the message out.
    ///
    /// # Safety
    ///
    /// No other thread accesses the slot, and it contains a message.
    #[inline]
    pub(super) unsafe fn take(&self) -> T {
        // SAFETY: the caller's promise.
        let place = unsafe { &*self.0.get() };
        // SAFETY: as above.
        unsafe { place.assume_init_read() }
    }
}

/// Makes `many` empty slots.
pub(super) fn slots<T>(many: usize) -> Box<[Slot<T>]> {
    let slots = Box::new_uninit_slice(many);
    // SAFETY: an empty slot may consist of any bytes.
    unsafe { slots.assume_init() }
}

/// Makes a value that consists of slots only, directly on the heap, since it may be larger than a
/// stack. The argument makes the value under the model checker.
///
/// # Safety
///
/// `B` consists of slots only.
pub(super) unsafe fn boxed<B>(_: impl FnOnce() -> B) -> Box<B> {
    let boxed = Box::new_uninit();
    // SAFETY: the caller's promise, and empty slots may consist of any bytes.
    unsafe { boxed.assume_init() }
}
