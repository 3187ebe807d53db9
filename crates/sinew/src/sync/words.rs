//! A value that some copy while another one writes it: its bytes are touched by atomic loads and stores, so that this is no data
//! race. Which copies are one value, it does not know.
//!
//! # Safety
//!
//! Trusted with looking at the memory of a value as atomics.
#![expect(unsafe_code, reason = "the memory of a value is seen as atomics")]

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::plain::Plain;

const WORD: usize = size_of::<u64>();

/// The value.
#[repr(C, align(8))]
pub(super) struct Words<T> {
    /// # Invariant
    ///
    /// Behind a shared reference, touched only by relaxed atomics: the bytes of [`words`] eight at a time, those of [`rest`] one by
    /// one. Its bytes are initialised, since it is plain. It is aligned as words are.
    value: UnsafeCell<T>,
}

// SAFETY: the invariant of `value`: there is no data race, and values are passed from one thread to others, which `T: Send` allows.
unsafe impl<T: Plain + Send> Sync for Words<T> {}

impl<T> Words<T> {
    pub(super) const fn new(value: T) -> Self {
        Self { value: UnsafeCell::new(value) }
    }

    pub(super) fn into_inner(self) -> T {
        self.value.into_inner()
    }

    pub(super) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T: Plain> Words<T> {
    /// A copy, whose bytes are of one value only if nobody wrote meanwhile.
    #[inline]
    pub(super) fn load(&self) -> MaybeUninit<T> {
        let mut copy = MaybeUninit::<T>::uninit();
        let to = copy.as_mut_ptr().cast::<u8>();
        for at in words::<T>() {
            // SAFETY: it is one of `words`.
            let word = unsafe { self.word(at) }.load(Ordering::Relaxed);
            // SAFETY: it is inside the copy, since `words` are inside a value.
            unsafe { to.wrapping_add(at).cast::<u64>().write_unaligned(word) };
        }
        for at in rest::<T>() {
            // SAFETY: it is one of `rest`.
            let byte = unsafe { self.byte(at) }.load(Ordering::Relaxed);
            // SAFETY: it is inside the copy, since `rest` is inside a value.
            unsafe { to.wrapping_add(at).write(byte) };
        }
        copy
    }

    /// Writes the value, while nobody else does.
    #[inline]
    pub(super) fn store(&self, value: &T) {
        let from = std::ptr::from_ref(value).cast::<u8>();
        for at in words::<T>() {
            // SAFETY: it is inside the value, whose bytes are initialised, since it is plain.
            let word = unsafe { from.wrapping_add(at).cast::<u64>().read_unaligned() };
            // SAFETY: it is one of `words`.
            unsafe { self.word(at) }.store(word, Ordering::Relaxed);
        }
        for at in rest::<T>() {
            // SAFETY: as above.
            let byte = unsafe { from.wrapping_add(at).read() };
            // SAFETY: it is one of `rest`.
            unsafe { self.byte(at) }.store(byte, Ordering::Relaxed);
        }
    }

    /// # Safety
    ///
    /// It is one of [`words`].
    #[inline]
    unsafe fn word(&self, at: usize) -> &AtomicU64 {
        let place = self.value.get().cast::<u8>().wrapping_add(at).cast::<u64>();
        // SAFETY: the invariant of `value`, and the caller's promise: a multiple of the size of a word, inside the value.
        unsafe { AtomicU64::from_ptr(place) }
    }

    /// # Safety
    ///
    /// It is one of [`rest`].
    #[inline]
    unsafe fn byte(&self, at: usize) -> &AtomicU8 {
        let place = self.value.get().cast::<u8>().wrapping_add(at);
        // SAFETY: the invariant of `value`, and the caller's promise: it is inside the value.
        unsafe { AtomicU8::from_ptr(place) }
    }
}

/// Where the words of a value begin.
fn words<T>() -> impl Iterator<Item = usize> {
    (0..size_of::<T>() / WORD).map(|number| number * WORD)
}

/// Where the bytes are that are no whole word.
fn rest<T>() -> Range<usize> {
    size_of::<T>() / WORD * WORD..size_of::<T>()
}
