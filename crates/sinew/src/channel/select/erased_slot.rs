//! A place for a message whose type is not known to whoever has the place. Small messages are in it, large ones behind it.
//!
//! # Safety
//!
//! Trusted with the type: whoever makes the place ready, exchanges and takes names the same one.
#![expect(unsafe_code, reason = "the type of what is in it is known elsewhere")]

use std::cell::{Cell, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr;

use crate::channel::wait_slot::MessagePlace;

/// What is inside, up to so many words.
type InlineBytes = [MaybeUninit<u64>; 6];

/// The place.
pub(in crate::channel) struct ErasedSlot {
    inside: UnsafeCell<InlineBytes>,
    /// # Invariant
    ///
    /// None, or a [`MessagePlace`] of some type is in it, or behind its first word, and this drops it.
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

    /// Makes it a place for a message of this type, without one. It is none yet.
    pub(in crate::channel) fn prepare<T>(&self) {
        debug_assert!(self.drop.get().is_none(), "it is made ready once");
        let inside = self.inside.get();
        if is_small::<T>() {
            // SAFETY: it is large enough, aligned, and nothing is there.
            unsafe { inside.cast::<MessagePlace<T>>().write(Cell::new(None)) };
            self.drop.set(Some(drop_inside::<T>));
        } else {
            let behind = Box::into_raw(Box::new(MessagePlace::<T>::new(None)));
            // SAFETY: as above.
            unsafe { inside.cast::<*mut MessagePlace<T>>().write(behind) };
            self.drop.set(Some(drop_behind::<T>));
        }
    }

    /// Where it is, for as long as this is not moved.
    ///
    /// # Safety
    ///
    /// It was made ready for this type.
    pub(in crate::channel) unsafe fn place<T>(&self) -> *const MessagePlace<T> {
        let inside = self.inside.get();
        match is_small::<T>() {
            true => inside.cast(),
            // SAFETY: the caller's promise.
            false => unsafe { inside.cast::<*const MessagePlace<T>>().read() },
        }
    }

    /// Puts a message into it. It is no place yet.
    pub(in crate::channel) fn fill<T>(&self, message: T) {
        self.prepare::<T>();
        // SAFETY: it was just made.
        let place = unsafe { self.place::<T>() };
        // SAFETY: it is there, and nobody else knows it.
        unsafe { &*place }.set(Some(message));
    }

    /// What is in it.
    ///
    /// # Safety
    ///
    /// It was made ready for this type, and nobody else has it.
    pub(in crate::channel) unsafe fn take<T>(&self) -> Option<T> {
        // SAFETY: the caller's promise.
        let place = unsafe { self.place::<T>() };
        // SAFETY: as above.
        unsafe { &*place }.take()
    }
}

/// # Safety
///
/// A small place of this type is there, and is not used again.
unsafe fn drop_inside<T>(inside: *mut ()) {
    // SAFETY: the caller's promise.
    unsafe { ptr::drop_in_place(inside.cast::<MessagePlace<T>>()) };
}

/// # Safety
///
/// A pointer to a place of this type is there, and is not used again.
unsafe fn drop_behind<T>(inside: *mut ()) {
    // SAFETY: the caller's promise.
    let behind = unsafe { inside.cast::<*mut MessagePlace<T>>().read() };
    // SAFETY: it is from a box, and nobody else's.
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

    /// Two spaces, of which one is not where a multiple of sixteen is.
    #[repr(C, align(16))]
    struct Two([ErasedSlot; 2]);

    /// Small enough to be inside, and aligned to more than a space is.
    #[test]
    fn a_message_is_where_its_alignment_wants_it() {
        assert!(size_of::<MessagePlace<u128>>() <= size_of::<InlineBytes>());
        assert_ne!(size_of::<ErasedSlot>() % align_of::<u128>(), 0, "one of the two is in between");
        let two = Two([ErasedSlot::new(), ErasedSlot::new()]);
        for (number, space) in two.0.iter().enumerate() {
            space.prepare::<u128>();
            // SAFETY: it was made ready for this type.
            let place = unsafe { space.place::<u128>() };
            assert!(place.is_aligned(), "{place:?}");
            // SAFETY: it is there, and nobody else's.
            unsafe { &*place }.set(Some(number as u128));
            // SAFETY: as above.
            assert_eq!(unsafe { space.take::<u128>() }, Some(number as u128));
        }
    }
}
