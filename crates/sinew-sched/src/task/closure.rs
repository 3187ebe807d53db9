//! A closure as a task, in a box of its own.
//!
//! # Safety
//!
//! Trusted with the box: made into a pointer once, taken apart once.
#![expect(unsafe_code, reason = "a box travels as an untyped pointer")]

use core::ptr::NonNull;

use super::context::Context;
use super::header::{Header, TaskRef, Vtable};

/// A boxed task with its closure.
///
/// # Invariant
///
/// The header comes first, so that a pointer to it is a pointer to the whole.
#[repr(C)]
struct Closure<F> {
    header: Header,
    body: F,
}

impl<F: FnOnce(&Context<'_>) + Send + 'static> Closure<F> {
    const VTABLE: &'static Vtable = &Vtable { run: Self::run, discard: Self::discard, settles: false };
    #[cfg(all(test, not(loom)))]
    const SETTLING: &'static Vtable = &Vtable { settles: true, ..*Self::VTABLE };

    /// Takes the closure out of its box.
    ///
    /// # Safety
    ///
    /// The header is that of a boxed `Self` which no other code uses.
    unsafe fn unbox(header: NonNull<Header>) -> F {
        // SAFETY: the caller's promise, and the type's invariant.
        let boxed = unsafe { Box::from_raw(header.cast::<Self>().as_ptr()) };
        boxed.body
    }

    unsafe fn run(header: NonNull<Header>, context: &Context<'_>) {
        // SAFETY: called through the vtable, so once, and with a header of this type.
        let body = unsafe { Self::unbox(header) };
        body(context);
    }

    unsafe fn discard(header: NonNull<Header>) {
        // SAFETY: as above.
        drop(unsafe { Self::unbox(header) });
    }
}

impl TaskRef {
    /// Creates a task that calls a closure. The closure is dropped, without being called, if the
    /// task is discarded.
    #[must_use]
    pub fn new<F: FnOnce(&Context<'_>) + Send + 'static>(body: F) -> Self {
        Self::boxed(Closure::<F>::VTABLE, body)
    }

    /// Creates a task that calls a closure, and stays on the worker where it begins.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn settling<F: FnOnce(&Context<'_>) + Send + 'static>(body: F) -> Self {
        Self::boxed(Closure::<F>::SETTLING, body)
    }

    fn boxed<F: FnOnce(&Context<'_>) + Send + 'static>(vtable: &'static Vtable, body: F) -> Self {
        let boxed = Box::new(Closure { header: Header::new(vtable), body });
        let pointer = NonNull::from(Box::leak(boxed)).cast();
        // SAFETY: the box was leaked here, so its header stays in place until a function of its
        // vtable takes it; the closure is `Send`, so it may go to any thread.
        unsafe { Self::from_raw(pointer) }
    }
}
