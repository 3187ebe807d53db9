//! The trait of values that can be copied word by word while a writer changes them. Knows no lock.
//!
//! # Safety
//!
//! Trusted with the promise of [`Plain`] for built-in and std types.
#![expect(unsafe_code, reason = "that a type has no padding is a promise")]

use std::marker::PhantomData;
use std::num::{NonZero, Saturating, Wrapping};

/// A type whose bytes are all initialised, so that atomics can copy it byte by byte. A
/// [`SeqLock`](super::SeqLock) holds a value of such a type.
///
/// Integers, floats, `bool`, `char`, `()`, and arrays of plain types implement it. Tuples do not,
/// because their memory layout is not specified. The author of a struct can implement it with a
/// promise:
///
/// ```
/// use sinew::sync::{Plain, SeqLock};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// #[repr(C)]
/// struct Quote {
///     bid: u64,
///     ask: u64,
///     size: u32,
///     flags: [u8; 4],
/// }
/// // SAFETY: its fields are plain. Their sizes add up to its own, so there is no padding.
/// unsafe impl Plain for Quote {}
/// const _: () = assert!(size_of::<Quote>() == 8 + 8 + 4 + 4);
///
/// static LAST: SeqLock<Quote> = SeqLock::new(Quote { bid: 0, ask: 0, size: 0, flags: [0; 4] });
/// LAST.set(Quote { bid: 10, ask: 11, size: 5, flags: *b"live" });
/// assert_eq!(LAST.read().ask, 11);
/// ```
///
/// The compiler rejects types that are not known to have no padding:
///
/// ```compile_fail,E0277
/// use sinew::sync::SeqLock;
///
/// let lock = SeqLock::new((1_u8, 2_u32));
/// ```
///
/// # Safety
///
/// All bytes of every value of the type are initialised: the type has no padding, no union that may
/// have padding, and no [`MaybeUninit`]. It contains no pointers and no references, whose
/// provenance a copy of their bytes would lose. Not every byte pattern needs to be valid: `bool` is
/// allowed.
///
/// [`MaybeUninit`]: std::mem::MaybeUninit
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($type:ty),*) => {
        $(
            // SAFETY: a scalar has no padding, and this one is not a pointer.
            unsafe impl Plain for $type {}
        )*
    };
}

macro_rules! plain_integers {
    ($($type:ty),*) => {
        plain!($($type),*);
        $(
            // SAFETY: `NonZero` has the memory layout of the integer.
            unsafe impl Plain for NonZero<$type> {}
            // SAFETY: as above; `None` is stored as zero.
            unsafe impl Plain for Option<NonZero<$type>> {}
        )*
    };
}

plain!(f32, f64, bool, char, ());
plain_integers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

// SAFETY: there is no padding between the items of an array.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}
// SAFETY: `Wrapping` is `repr(transparent)`: it has the memory layout of its field.
unsafe impl<T: Plain> Plain for Wrapping<T> {}
// SAFETY: as above.
unsafe impl<T: Plain> Plain for Saturating<T> {}
// SAFETY: it has no bytes.
unsafe impl<T: ?Sized> Plain for PhantomData<T> {}
