//! A value that readers may copy while a writer changes it. Atomic loads and stores access its
//! bytes, so there is no data race. It does not know which copies are consistent.
//!
//! # Safety
//!
//! Trusted to access the memory of a value through atomics.
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
    /// Behind a shared reference, only relaxed atomics access it: the bytes of [`words`] eight at a
    /// time, the bytes of [`rest`] one at a time. All its bytes are initialised, since its type is
    /// [`Plain`]. It is aligned for words.
    value: UnsafeCell<T>,
}

// SAFETY: the invariant of `value` excludes data races. Values pass from one thread to others,
// which `T: Send` allows.
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
    /// Returns a copy. Its bytes belong to one value only if no writer stored during the copy.
    #[inline]
    pub(super) fn load(&self) -> MaybeUninit<T> {
        let mut copy = MaybeUninit::<T>::uninit();
        let to = copy.as_mut_ptr().cast::<u8>();
        for at in words::<T>() {
            // SAFETY: `at` is one of `words`.
            let word = unsafe { self.word(at) }.load(Ordering::Relaxed);
            // SAFETY: the word is inside the copy, since `words` are inside a value.
            unsafe { to.wrapping_add(at).cast::<u64>().write_unaligned(word) };
        }
        for at in rest::<T>() {
            // SAFETY: `at` is one of `rest`.
            let byte = unsafe { self.byte(at) }.load(Ordering::Relaxed);
            // SAFETY: the byte is inside the copy, since `rest` is inside a value.
            unsafe { to.wrapping_add(at).write(byte) };
        }
        copy
    }

    /// Writes the value. The caller makes sure that there is no other writer.
    #[inline]
    pub(super) fn store(&self, value: &T) {
        let from = std::ptr::from_ref(value).cast::<u8>();
        for at in words::<T>() {
            // SAFETY: the word is inside the value, whose bytes are all initialised, since it is
            // `Plain`.
            let word = unsafe { from.wrapping_add(at).cast::<u64>().read_unaligned() };
            // SAFETY: `at` is one of `words`.
            unsafe { self.word(at) }.store(word, Ordering::Relaxed);
        }
        for at in rest::<T>() {
            // SAFETY: as above.
            let byte = unsafe { from.wrapping_add(at).read() };
            // SAFETY: `at` is one of `rest`.
            unsafe { self.byte(at) }.store(byte, Ordering::Relaxed);
        }
    }

    /// # Safety
    ///
    /// `at` is one of [`words`].
    #[inline]
    unsafe fn word(&self, at: usize) -> &AtomicU64 {
        let place = self.value.get().cast::<u8>().wrapping_add(at).cast::<u64>();
        // SAFETY: the invariant of `value`. By the caller's promise, `at` is a multiple of the size
        // of a word, and the word is inside the value.
        unsafe { AtomicU64::from_ptr(place) }
    }

    /// # Safety
    ///
    /// `at` is one of [`rest`].
    #[inline]
    unsafe fn byte(&self, at: usize) -> &AtomicU8 {
        let place = self.value.get().cast::<u8>().wrapping_add(at);
        // SAFETY: the invariant of `value`. By the caller's promise, the byte is inside the value.
        unsafe { AtomicU8::from_ptr(place) }
    }
}

/// Returns the offsets of the whole words of a value.
fn words<T>() -> impl Iterator<Item = usize> {
    (0..size_of::<T>() / WORD).map(|number| number * WORD)
}

/// Returns the offsets of the last bytes, which do not fill a word.
fn rest<T>() -> Range<usize> {
    size_of::<T>() / WORD * WORD..size_of::<T>()
}
