//! How values cross a switch: in the argument itself where they fit, else on the stack that they come from. Knows no
//! stack and no switch.
//!
//! # Safety
//!
//! Trusted with moving a value out of one side and into the other: [`send`] leaves the value behind as a husk that is
//! never dropped, and each [`receive`] is paired with one send of the same type.
#![expect(unsafe_code, reason = "a value is moved through a word of unknown type")]

use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr;

use crate::arch::Arg;

/// Whether values of this type travel in the argument. Keeping them in a register spares each switch a store and the
/// load that waits for it.
const fn fits<T>() -> bool {
    size_of::<T>() <= size_of::<Arg>()
}

/// The argument that carries a value. If it does not fit, the argument is the value's address: it must stay where it is
/// until it has been received.
#[inline(always)]
pub(crate) fn send<T>(value: &mut ManuallyDrop<T>) -> Arg {
    let value = ptr::from_mut(value);
    if !fits::<T>() {
        return MaybeUninit::new(value.cast());
    }
    let mut arg = Arg::uninit();
    // SAFETY: the value has at most the size of the argument.
    unsafe { ptr::copy_nonoverlapping(value.cast::<u8>(), arg.as_mut_ptr().cast::<u8>(), size_of::<T>()) };
    arg
}

/// Takes the value out of an argument.
///
/// # Safety
///
/// The argument comes from [`send`] for the same type, has not been received yet, and if it is an address, the value
/// is still there.
#[inline(always)]
pub(crate) unsafe fn receive<T>(arg: Arg) -> T {
    if !fits::<T>() {
        // SAFETY: the argument of a value that does not fit is its address, and never uninitialised.
        let address = unsafe { arg.assume_init() };
        // SAFETY: the caller vouches for the value at that address, and takes it only once.
        return unsafe { address.cast::<T>().read() };
    }
    // SAFETY: the first bytes of the argument are the value's. They need not be aligned for it.
    unsafe { arg.as_ptr().cast::<T>().read_unaligned() }
}
