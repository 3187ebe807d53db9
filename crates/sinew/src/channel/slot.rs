//! A place for one message, which may be empty. Does not know whether it is.
//!
//! # Safety
//!
//! Trusted with the memory of a message: callers say when it is there, and that nobody else touches it.
#![expect(unsafe_code, reason = "whether a message is there, is known elsewhere")]

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

/// The place. What is in it when it is dropped, is not.
pub(super) struct Slot<T>(UnsafeCell<MaybeUninit<T>>);

impl<T> Slot<T> {
    pub(super) fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    /// Puts a message there.
    ///
    /// # Safety
    ///
    /// Nobody else touches it, and it is empty.
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
    /// Nobody else touches it, and there is one.
    #[inline]
    pub(super) unsafe fn take(&self) -> T {
        // SAFETY: the caller's promise.
        let place = unsafe { &*self.0.get() };
        // SAFETY: as above.
        unsafe { place.assume_init_read() }
    }
}

/// So many of them.
pub(super) fn slots<T>(many: usize) -> Box<[Slot<T>]> {
    let slots = Box::new_uninit_slice(many);
    // SAFETY: an empty one may have any bytes.
    unsafe { slots.assume_init() }
}

/// Something that is made of them alone, made where it is to stay: it may be larger than a stack. The argument is what the checker
/// does instead.
///
/// # Safety
///
/// It is made of them alone.
pub(super) unsafe fn boxed<B>(_: impl FnOnce() -> B) -> Box<B> {
    let boxed = Box::new_uninit();
    // SAFETY: the caller's promise, and an empty one may have any bytes.
    unsafe { boxed.assume_init() }
}
