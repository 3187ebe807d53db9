//! What is poked when a node is cancelled. Knows neither fibers nor threads.
//!
//! # Safety
//!
//! Trusted with a value of unknown type in a word.
#![expect(unsafe_code, reason = "members are of several types, and take a word each")]

use std::mem::MaybeUninit;
use std::ptr;

use crate::rt::base::impl_debug;

/// An operation on members of a node. Implemented for types that fit into a word.
pub(crate) trait Poke: Send + Sync + 'static {
    /// Ends the present wait of the member, if a poke may.
    fn poke(&self);
}

/// A value that is poked. Like a `Box<dyn Poke>`, without the allocation.
pub(crate) struct Member {
    /// # Invariant
    ///
    /// Begins with a value of the type that `vtable` is for.
    value: MemberWord,
    vtable: &'static MemberVtable,
}

/// The memory of a value.
type MemberWord = MaybeUninit<*const ()>;

struct MemberVtable {
    poke: unsafe fn(*const MemberWord),
    drop: unsafe fn(*mut MemberWord),
}

// SAFETY: the value is a `Poke`, which may be sent.
unsafe impl Send for Member {}
// SAFETY: the value is a `Poke`, which may be shared.
unsafe impl Sync for Member {}

impl Member {
    pub(crate) fn new<P: Poke>(value: P) -> Self {
        const { assert!(size_of::<P>() <= size_of::<MemberWord>() && align_of::<P>() <= align_of::<MemberWord>()) };
        let mut word = MemberWord::uninit();
        // SAFETY: the value fits into the word, which is unused.
        unsafe { word.as_mut_ptr().cast::<P>().write(value) };
        Self { value: word, vtable: const { &MemberVtable { poke: poke::<P>, drop: drop_value::<P> } } }
    }

    pub(super) fn poke(&self) {
        // SAFETY: the invariant of `value`.
        unsafe { (self.vtable.poke)(&raw const self.value) };
    }
}

/// # Safety
///
/// The word begins with a value of type `P`.
unsafe fn poke<P: Poke>(word: *const MemberWord) {
    // SAFETY: the caller's promise.
    unsafe { &*word.cast::<P>() }.poke();
}

/// # Safety
///
/// The word begins with a value of type `P`, which is not used again.
unsafe fn drop_value<P: Poke>(word: *mut MemberWord) {
    // SAFETY: the caller's promise.
    unsafe { ptr::drop_in_place(word.cast::<P>()) };
}

impl Drop for Member {
    fn drop(&mut self) {
        // SAFETY: the invariant of `value`. The value is not used after this.
        unsafe { (self.vtable.drop)(&raw mut self.value) };
    }
}

impl_debug!(Member, ..);
