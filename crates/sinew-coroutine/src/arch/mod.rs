//! What a processor must provide for switching stacks. Knows no coroutine, no thread, no
//! allocation.
//!
//! Each back end is a sibling file with the same items:
//!
//! | item | what it is |
//! | --- | --- |
//! | `registers(context)` | returns where a suspended side will continue, for debuggers |
//! | `init(base, entry)` | prepares a stack below `base`, so that a switch to it calls `entry` |
//! | `switch(to, arg)` | suspends this side and continues `to`; returns on the switch back |
//! | `leave(to, arg)` | continues `to` and never returns: this side has ended |
//! | `prefetch(address)` | prefetches memory that is needed soon; a hint, for any address |
//!
//! A *side* is a stack with code that runs on it or is suspended on it. The contract is symmetric:
//! it does not say which side resumes which. A side that is switched to receives two words: the
//! [`Context`] of the side that switched (`None` if that side has ended), and the argument. Nothing
//! in the contract needs assembly: an OS thread per side, with a baton passed between them, could
//! provide the same items.
//!
//! # Safety
//!
//! Trusted with the pointer to a suspended side: the holder of a [`Context`] promises to use it
//! once, while the stack it points into is alive. The back ends are trusted with the rest.
#![expect(unsafe_code, reason = "contexts are raw pointers, and the back ends are assembly")]

use core::cell::Cell;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64::registers;
#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::{init, leave, prefetch, switch};
#[cfg(target_arch = "x86_64")]
use x86_64::registers;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{init, leave, prefetch, switch};

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!("sinew-coroutine has a context switch for Linux on x86-64 and AArch64 only");

/// The alignment of the stack pointer at a call, in both calling conventions.
pub(crate) const STACK_ALIGN: usize = 16;

/// A suspended side: the address of the registers that it saved on its stack.
///
/// # Invariant
///
/// Points to what a side saved on its stack in [`switch`], or to what [`init`] prepared. Valid for
/// one switch.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Context(NonNull<u8>);

impl Context {
    /// Prefetches what this side saved on its stack.
    #[inline]
    pub(crate) fn prefetch(self) {
        // The saved registers lie around the stack pointer. Above them are the frames that
        // continue.
        let start = self.0.as_ptr().cast_const().wrapping_sub(24);
        prefetch(start);
        prefetch(start.wrapping_add(64));
    }

    /// Returns where this side will continue.
    ///
    /// # Safety
    ///
    /// The side is suspended, and stays suspended during the call.
    pub(crate) unsafe fn registers(self) -> Registers {
        // SAFETY: the caller's promise.
        unsafe { registers(self) }
    }
}

/// The record at the top of a coroutine's stack through which unwinders find the resumer.
///
/// The back ends' entry frames describe their caller as the side that [`link`](Self::link) names,
/// or else as the frame of zeros beside it. So a backtrace of a running coroutine continues into
/// its resumer, and a backtrace of a suspended coroutine ends here.
#[repr(C, align(16))]
pub(crate) struct Base {
    /// The side to return to while the coroutine runs.
    pub(crate) link: Cell<Option<Context>>,
    /// The outermost frame for debuggers: its program counter is zero.
    outermost: [usize; 3],
}

impl Base {
    /// Returns the base of a coroutine that is not running yet.
    #[inline]
    pub(crate) fn new() -> Self {
        Self { link: Cell::new(None), outermost: [0; 3] }
    }
}

// The unwind tables of both back ends load the link from the base's own address, and expect the
// zeros after it.
const _: () = assert!(core::mem::offset_of!(Base, link) == 0);
const _: () = assert!(core::mem::offset_of!(Base, outermost) == 8);

/// The argument of a switch: a word whose meaning the two sides agree on. Often an address. Bytes
/// without a meaning may be uninitialized.
pub(crate) type Arg = MaybeUninit<*mut ()>;

/// The function that [`init`] prepares. The first switch to the new stack calls it there, with the
/// side that switched, the argument of the switch, and the base.
pub(crate) type Entry = unsafe extern "C" fn(from: Option<Context>, arg: Arg, base: *mut Base) -> !;

/// The registers with which a suspended coroutine will continue. A debugger or profiler needs them
/// to walk its stack.
///
/// ```
/// # use sinew_coroutine::{Coroutine, MmapStack, Stack};
/// let mut coroutine = Coroutine::<(), (), ()>::new(MmapStack::new(64 * 1024)?, |suspender, ()| {
///     suspender.suspend(());
/// });
/// coroutine.resume(());
/// let registers = coroutine.registers().expect("it is suspended");
/// let stack = coroutine.stack();
/// assert!((stack.limit().addr().get()..stack.top().addr().get()).contains(&registers.sp));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Registers {
    /// The address of the next instruction.
    pub ip: usize,
    /// The stack pointer at that instruction.
    pub sp: usize,
    /// The frame pointer register (`rbp`, `x29`) at that instruction.
    pub fp: usize,
}
