//! How values cross a switch: in the argument itself if they fit, otherwise on the stack of the
//! side that sends them. Knows no stack and no switch.
//!
//! # Safety
//!
//! Trusted with moving a value out of one side and into the other: the sender's copy is never
//! dropped after [`send`], and each [`receive`] is paired with one send of the same type.
#![expect(unsafe_code, reason = "a value is moved through a word of unknown type")]

use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr;

use crate::arch::Arg;

/// Returns whether values of this type travel in the argument. Keeping them in a register saves
/// each switch a store, and the load that waits for it.
const fn fits<T>() -> bool {
    size_of::<T>() <= size_of::<Arg>()
}

/// Returns the argument that carries a value. If the value does not fit, the argument is its
/// address: the value must stay in place until it has been received.
#[inline(always)]
pub(crate) fn send<T>(value: &mut ManuallyDrop<T>) -> Arg {
    let value = ptr::from_mut(value);
    if !fits::<T>() {
        return MaybeUninit::new(value.cast());
    }
    let mut arg = Arg::uninit();
    // SAFETY: the value is no larger than the argument.
    unsafe { ptr::copy_nonoverlapping(value.cast::<u8>(), arg.as_mut_ptr().cast::<u8>(), size_of::<T>()) };
    arg
}

/// Takes the value out of an argument.
///
/// # Safety
///
/// The argument comes from [`send`] for the same type and has not been received yet. If it is an
/// address, the value is still in place.
#[inline(always)]
pub(crate) unsafe fn receive<T>(arg: Arg) -> T {
    if !fits::<T>() {
        // SAFETY: for a value that does not fit, the argument is an address, which is always
        // initialized.
        let address = unsafe { arg.assume_init() };
        // SAFETY: the caller promises that the value is at that address, and takes it only once.
        return unsafe { address.cast::<T>().read() };
    }
    // SAFETY: the first bytes of the argument are those of the value. They need not be aligned for
    // it.
    unsafe { arg.as_ptr().cast::<T>().read_unaligned() }
}
