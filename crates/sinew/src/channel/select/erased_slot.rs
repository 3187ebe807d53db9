//! A place for a message of an unknown type. Small messages are stored inline, large ones in a box.
//!
//! # Safety
//!
//! Trusted with the type: `prepare`, `place` and `take` are called with the same one.
#![expect(unsafe_code, reason = "the type of what is in it is known elsewhere")]

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr;

use crate::channel::wait_slot::MessagePlace;

/// The inline memory, for small messages.
type InlineBytes = [MaybeUninit<u64>; 6];

/// The place.
pub(in crate::channel) struct ErasedSlot {
    inside: UnsafeCell<InlineBytes>,
    /// # Invariant
    ///
    /// `None`, or a function that drops the [`MessagePlace`] that is stored inline, or in the box
    /// to which the first word points.
    drop: Cell<Option<unsafe fn(*mut ())>>,
}

const fn is_small<T>() -> bool {
    size_of::<MessagePlace<T>>() <= size_of::<InlineBytes>()
        && align_of::<MessagePlace<T>>() <= align_of::<InlineBytes>()
}

impl ErasedSlot {
    pub(in crate::channel) const fn new() -> Self {
        Self { inside: UnsafeCell::new([MaybeUninit::uninit(); 6]), drop: Cell::new(None) }
    }

    /// Makes an empty place for a message of this type. Called once.
    pub(in crate::channel) fn prepare<T>(&self) {
        debug_assert!(self.drop.get().is_none(), "it is made ready once");
        let inside = self.inside.get();
        if is_small::<T>() {
            // SAFETY: the memory is large enough and aligned, and nothing is stored in it.
            unsafe { inside.cast::<MessagePlace<T>>().write(Cell::new(None)) };
            self.drop.set(Some(drop_inside::<T>));
        } else {
            let behind = Box::into_raw(Box::new(MessagePlace::<T>::new(None)));
            // SAFETY: as above.
            unsafe { inside.cast::<*mut MessagePlace<T>>().write(behind) };
            self.drop.set(Some(drop_behind::<T>));
        }
    }

    /// Returns the place, which is valid until `self` is moved.
    ///
    /// # Safety
    ///
    /// It was prepared for this type.
    pub(in crate::channel) unsafe fn place<T>(&self) -> *const MessagePlace<T> {
        let inside = self.inside.get();
        match is_small::<T>() {
            true => inside.cast(),
            // SAFETY: the caller's promise.
            false => unsafe { inside.cast::<*const MessagePlace<T>>().read() },
        }
    }

    /// Prepares the place and stores a message. Called instead of `prepare`.
    pub(in crate::channel) fn fill<T>(&self, message: T) {
        self.prepare::<T>();
        // SAFETY: it was just prepared for this type.
        let place = unsafe { self.place::<T>() };
        // SAFETY: the place is valid, and no other thread has its address.
        unsafe { &*place }.set(Some(message));
    }

    /// Takes the message, if there is one.
    ///
    /// # Safety
    ///
    /// It was prepared for this type, and no other thread accesses it.
    pub(in crate::channel) unsafe fn take<T>(&self) -> Option<T> {
        // SAFETY: the caller's promise.
        let place = unsafe { self.place::<T>() };
        // SAFETY: as above.
        unsafe { &*place }.take()
    }
}

/// Drops an inline place.
///
/// # Safety
///
/// `inside` contains a small place of this type, which is not used again.
unsafe fn drop_inside<T>(inside: *mut ()) {
    // SAFETY: the caller's promise.
    unsafe { ptr::drop_in_place(inside.cast::<MessagePlace<T>>()) };
}

/// Drops a place in a box.
///
/// # Safety
///
/// `inside` contains a pointer to a place of this type, which is not used again.
unsafe fn drop_behind<T>(inside: *mut ()) {
    // SAFETY: the caller's promise.
    let behind = unsafe { inside.cast::<*mut MessagePlace<T>>().read() };
    // SAFETY: it is from a box, and has no other owner.
    drop(unsafe { Box::from_raw(behind) });
}

impl Drop for ErasedSlot {
    fn drop(&mut self) {
        if let Some(drop) = self.drop.take() {
            // SAFETY: the invariant of `drop`.
            unsafe { drop(self.inside.get().cast()) };
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Two places, one of which is not at a multiple of sixteen bytes.
    #[repr(C, align(16))]
    struct Two([ErasedSlot; 2]);

    /// The message is small enough to be inline, and has a larger alignment than the place.
    #[test]
    fn a_message_is_where_its_alignment_wants_it() {
        assert!(size_of::<MessagePlace<u128>>() <= size_of::<InlineBytes>());
        assert_ne!(size_of::<ErasedSlot>() % align_of::<u128>(), 0, "one of the two is in between");
        let two = Two([ErasedSlot::new(), ErasedSlot::new()]);
        for (number, space) in two.0.iter().enumerate() {
            space.prepare::<u128>();
            // SAFETY: it was prepared for this type.
            let place = unsafe { space.place::<u128>() };
            assert!(place.is_aligned(), "{place:?}");
            // SAFETY: the place is valid, and no other thread accesses it.
            unsafe { &*place }.set(Some(number as u128));
            // SAFETY: as above.
            assert_eq!(unsafe { space.take::<u128>() }, Some(number as u128));
        }
    }
}
