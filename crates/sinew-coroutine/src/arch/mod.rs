//! What a processor must provide for stacks to be switched. Knows no coroutine, no thread, no allocation.
//!
//! Each back end is a sibling file with the same items:
//!
//! | item | what it is |
//! | --- | --- |
//! | `registers(context)` | where a suspended side will go on, for debuggers |
//! | `init(base, entry)` | prepares a fresh stack below `base`, so that switching to it calls `entry` |
//! | `switch(to, arg)` | suspends this side and goes on with `to`; returns when somebody switches back |
//! | `leave(to, arg)` | goes on with `to` and never returns: this side is over |
//! | `prefetch(address)` | has memory fetched that is needed soon; a hint, for any address |
//!
//! The contract is symmetric and has no notion of who resumes whom. A side that is switched to learns two words:
//! the [`Context`] of the side it came from (none if that side left), and the argument. Nothing in the contract
//! needs assembly: an OS thread per side that passes a baton could provide the same items.
//!
//! # Safety
//!
//! Trusted with naming the memory of a suspended side: a [`Context`] is a pointer that its holder promises to use
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

/// Both calling conventions want the stack pointer a multiple of this at a call.
pub(crate) const STACK_ALIGN: usize = 16;

/// A suspended side: the address of what it left on its stack.
///
/// # Invariant
///
/// Points to what a side left on its stack in [`switch`], or to what [`init`] prepared. Good for one switch.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Context(NonNull<u8>);

impl Context {
    /// Has what this side left on its stack fetched.
    #[inline]
    pub(crate) fn prefetch(self) {
        // What a switch saves lies around the stack pointer; above are the frames that go on.
        let start = self.0.as_ptr().cast_const().wrapping_sub(24);
        prefetch(start);
        prefetch(start.wrapping_add(64));
    }

    /// Where this side will go on.
    ///
    /// # Safety
    ///
    /// The side is suspended, and stays so during the call.
    pub(crate) unsafe fn registers(self) -> Registers {
        // SAFETY: the caller's promise is passed on.
        unsafe { registers(self) }
    }
}

/// The place at the top of a coroutine's stack through which unwinders leave it.
///
/// The back ends' entry frames describe their caller as "whatever side [`link`](Self::link) names, or else the frame of
/// zeros beside it": a backtrace taken on a running coroutine goes on into its resumer, and one of a suspended coroutine
/// ends here.
#[repr(C, align(16))]
pub(crate) struct Base {
    /// The side to return to while the coroutine runs.
    pub(crate) link: Cell<Option<Context>>,
    /// What debuggers take for the outermost frame: a program counter of zero.
    outermost: [usize; 3],
}

impl Base {
    /// The base of a coroutine that does not run yet.
    #[inline]
    pub(crate) fn new() -> Self {
        Self { link: Cell::new(None), outermost: [0; 3] }
    }
}

// The unwind tables of both back ends load the link from the address of the base itself, and have the zeros follow.
const _: () = assert!(core::mem::offset_of!(Base, link) == 0);
const _: () = assert!(core::mem::offset_of!(Base, outermost) == 8);

/// The argument of a switch: a word that the two sides agree about. Often an address; bytes that mean nothing may be
/// uninitialised.
pub(crate) type Arg = MaybeUninit<*mut ()>;

/// The function that [`init`] prepares: called on the new stack by the first switch to it, with the side that
/// switched, the argument of the switch, and the base.
pub(crate) type Entry = unsafe extern "C" fn(from: Option<Context>, arg: Arg, base: *mut Base) -> !;

/// Where a suspended coroutine will go on: what a debugger or profiler needs to walk its stack.
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
