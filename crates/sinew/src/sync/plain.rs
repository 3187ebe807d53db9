//! What a value must be so that it can be copied word by word while another one writes it. Knows no lock.
//!
//! # Safety
//!
//! Trusted with the promise for types of the language.
#![expect(unsafe_code, reason = "that a type has no padding is a promise")]

use std::marker::PhantomData;
use std::num::{NonZero, Saturating, Wrapping};

/// A type of which every byte is always written, so that it may be copied byte by byte through atomics: what a
/// [`SeqLock`](super::SeqLock) holds.
///
/// Integers, floats, `bool`, `char`, `()`, and arrays of what is plain are. A tuple is not: nobody says how it lies in memory. A
/// struct becomes one by a promise of its author:
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
/// // SAFETY: its fields are plain, and their sizes add up to its own: nothing is between them.
/// unsafe impl Plain for Quote {}
/// const _: () = assert!(size_of::<Quote>() == 8 + 8 + 4 + 4);
///
/// static LAST: SeqLock<Quote> = SeqLock::new(Quote { bid: 0, ask: 0, size: 0, flags: [0; 4] });
/// LAST.set(Quote { bid: 10, ask: 11, size: 5, flags: *b"live" });
/// assert_eq!(LAST.read().ask, 11);
/// ```
///
/// Padding is refused where the language can tell:
///
/// ```compile_fail,E0277
/// use sinew::sync::SeqLock;
///
/// let lock = SeqLock::new((1_u8, 2_u32));
/// ```
///
/// # Safety
///
/// Every value of the type has all its bytes initialised: there is no padding, no union that may have some, no [`MaybeUninit`]. And it
/// has no pointers and no references, which are more than their bytes. It need not be valid for all bytes: a `bool` is fine.
///
/// [`MaybeUninit`]: std::mem::MaybeUninit
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($type:ty),*) => {
        $(
            // SAFETY: a scalar has no padding, and this one is no pointer.
            unsafe impl Plain for $type {}
        )*
    };
}

macro_rules! plain_integers {
    ($($type:ty),*) => {
        plain!($($type),*);
        $(
            // SAFETY: it lies in memory as the integer does.
            unsafe impl Plain for NonZero<$type> {}
            // SAFETY: as above; none of it is zero.
            unsafe impl Plain for Option<NonZero<$type>> {}
        )*
    };
}

plain!(f32, f64, bool, char, ());
plain_integers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

// SAFETY: nothing is between the items of an array.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}
// SAFETY: it lies in memory as its field does.
unsafe impl<T: Plain> Plain for Wrapping<T> {}
// SAFETY: as above.
unsafe impl<T: Plain> Plain for Saturating<T> {}
// SAFETY: it has no bytes.
unsafe impl<T: ?Sized> Plain for PhantomData<T> {}
