//! AArch64, AAPCS64. Exports the items that the table in the parent module lists.
//!
//! # A suspended side
//!
//! ```text
//!           higher addresses
//!         |  frames of the side   |
//!         +-----------------------+  <- sp when it continues
//!         |  (keeps sp 16-aligned)|  +24
//!         |  x19                  |  +16
//!         |  pc to continue at    |  +8
//! Context |  x29                  |  +0
//!         +-----------------------+
//!           lower addresses: free
//! ```
//!
//! The assembly does not save the other callee-saved registers (x20 to x28, and d8 to d15), but
//! declares them *clobbered*. So the compiler saves only those that it uses at that place. x19 and
//! x29 cannot be declared clobbered, because the compiler reserves them; the assembly stores these
//! two itself. x18 belongs to the platform.
//!
//! A switch leaves a side by `br`, not by `ret`: the return-address predictor's entries belong to
//! the other stack.
//!
//! # A fresh stack
//!
//! ```text
//!          +-----------------------+
//!          |  Base                 |  16-aligned; the coroutine's own data follows above
//!          +-----------------------+  <- sp when `start` begins
//!          |  -                    |
//!          |  x19 = entry          |
//!          |  pc = start           |
//!  Context |  x29 = address of Base|
//!          +-----------------------+
//! ```
//!
//! # Safety
//!
//! Trusted with moving the stack pointer. The argument is the symmetry of [`switch`]: the next
//! switch to a side loads all that the side stored before it gave up the stack pointer. Every other
//! register that a function may expect unchanged is declared clobbered.
#![expect(unsafe_code, reason = "the context switch is assembly")]

use core::arch::{asm, naked_asm};
use core::mem::offset_of;
use core::ptr::NonNull;

use super::{Arg, Base, Context, Entry, Registers};

/// The registers that a suspended side saves on its stack; see the diagram above.
#[repr(C)]
struct Saved {
    x29: usize,
    pc: usize,
    x19: usize,
    padding: usize,
}

// These are the offsets in the loads and stores of `switch` and `leave`, and in the unwind table of
// `start`.
const _: () = assert!(offset_of!(Saved, x29) == 0);
const _: () = assert!(offset_of!(Saved, pc) == 8);
const _: () = assert!(offset_of!(Saved, x19) == 16);
const _: () = assert!(size_of::<Saved>() == 32);

/// Returns where a side will continue.
///
/// # Safety
///
/// The side is suspended, and stays suspended during the call.
pub(super) unsafe fn registers(context: Context) -> Registers {
    // SAFETY: a suspended side has saved a `Saved` there.
    let saved = unsafe { context.0.cast::<Saved>().read() };
    Registers { ip: saved.pc, sp: context.0.addr().get() + size_of::<Saved>(), fp: saved.x29 }
}

/// Prepares the stack below `base` so that the first [`switch`] to it calls `entry`.
///
/// # Safety
///
/// `base` is aligned for its type, lies on a stack that no code uses, and has room below it for a
/// [`Saved`] and for all that `entry` needs.
#[inline]
pub(crate) unsafe fn init(base: *mut Base, entry: Entry) -> Context {
    let saved = base.cast::<Saved>().wrapping_sub(1);
    let fresh = Saved { x29: base.addr(), pc: start as *const () as usize, x19: entry as usize, padding: 0 };
    // SAFETY: the caller gives this function the memory below `base`. A `Saved` is word-aligned
    // there since `base` is.
    unsafe { saved.write(fresh) };
    // SAFETY: an address just below a live object is not null.
    Context(unsafe { NonNull::new_unchecked(saved.cast()) })
}

/// The outermost frame of every coroutine: calls the entry that [`init`] stored in x19.
///
/// Its unwind table says that the caller's frame is the side that the base links to: the canonical
/// frame address is `link + 32`, and x29, pc and x19 lie below it as in [`Saved`]. Without a link,
/// the table names the zeros of the base as the `Saved`, and unwinders end there: it is the
/// outermost frame. The frame is marked as a signal frame because the caller's stack may lie above
/// or below this one, which gdb accepts only of signal frames. For a signal frame, unwinders look
/// up the address after the call as it is, so it must still belong to this function.
#[unsafe(naked)]
unsafe extern "C" fn start() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_signal_frame",
        // DW_CFA_def_cfa_expression: link + ((base + 8) & -(0 >= link)) + 32. It has no branch,
        // since valgrind supports none. 16 bytes: DW_OP_breg29 (x29) 0, deref; breg29 8; lit0;
        // lit0; breg29 0, deref; ge; minus; and; plus; plus_uconst 32.
        ".cfi_escape 0x0f, 0x10, 0x8d, 0x00, 0x06, 0x8d, 0x08, 0x30, 0x30, 0x8d, 0x00, 0x06, 0x2a, 0x1c, 0x1a, 0x22",
        ".cfi_escape 0x23, 0x20",
        ".cfi_offset x29, -32",
        ".cfi_offset x30, -24",
        ".cfi_offset x19, -16",
        // The first two arguments are those of the switch, and are in the right registers already.
        "mov x2, x29",
        // A call without a return would leave one entry too many in the processor's stack of return
        // addresses, and the processor would then mispredict the return of each frame of the
        // resumer. So this jumps, through x16 as a tail call does.
        "adr x30, 2f",
        "mov x16, x19",
        "br x16",
        "2:",
        "brk #1",
        ".cfi_endproc",
    )
}

/// Suspends this side and continues `to`. Returns when another side switches back, with the context
/// of that side (`None` if it has ended) and its argument.
///
/// # Safety
///
/// `to` is a suspended side, and is used only once. The side that switches back keeps the same
/// promises, and passes the argument that the caller expects.
#[inline(always)]
pub(crate) unsafe fn switch(to: Context, arg: Arg) -> (Option<Context>, Arg) {
    let from: *mut u8;
    let received: Arg;
    // SAFETY: the switch back undoes the stores, so sp is what it was; x19 and x29 are restored
    // from the same place; all other registers are operands or declared clobbered. Memory is
    // assumed clobbered, as by any call. The caller promises that `to` is suspended.
    unsafe {
        asm!(
            // Store on this stack what the way back needs.
            "adr x30, 2f",
            "stp x29, x30, [sp, #-32]!",
            "str x19, [sp, #16]",
            // Continue the other side; its first argument is the side that we leave. From here to
            // the jump, the unwind table names the other side as the caller of this place, for a
            // profiler that interrupts and unwinds.
            "mov x0, sp",
            ".cfi_remember_state",
            ".cfi_def_cfa x2, 32",
            ".cfi_offset x29, -32",
            ".cfi_offset x30, -24",
            ".cfi_offset x19, -16",
            "ldr x19, [x2, #16]",
            "ldp x29, x30, [x2]",
            "add sp, x2, #32",
            "br x30",
            ".cfi_restore_state",
            // Never executed. Unwinders look up the instruction before a return address, which must
            // not be the jump.
            "nop",
            // The other side has switched back: the stack is as before the stores.
            "2:",
            in("x2") to.0.as_ptr(),
            lateout("x0") from,
            inout("x1") arg => received,
            lateout("x20") _,
            lateout("x21") _,
            lateout("x22") _,
            lateout("x23") _,
            lateout("x24") _,
            lateout("x25") _,
            lateout("x26") _,
            lateout("x27") _,
            lateout("x28") _,
            // The convention keeps only the low halves of these, so `clobber_abi` leaves them out.
            lateout("v8") _,
            lateout("v9") _,
            lateout("v10") _,
            lateout("v11") _,
            lateout("v12") _,
            lateout("v13") _,
            lateout("v14") _,
            lateout("v15") _,
            clobber_abi("C"),
        );
    }
    (NonNull::new(from).map(Context), received)
}

/// Continues `to` and never returns: no side switches to this one again.
///
/// # Safety
///
/// As for [`switch`]. In addition, nothing on this stack is needed any more, except the value that
/// `arg` may point to. That value is needed until the other side has taken it.
#[inline(always)]
pub(crate) unsafe fn leave(to: Context, arg: Arg) -> ! {
    // SAFETY: no code follows on this side. The other side's registers are restored as `switch`
    // saved them.
    unsafe {
        asm!(
            // No context: this side has ended.
            "mov x0, xzr",
            ".cfi_remember_state",
            ".cfi_def_cfa x2, 32",
            ".cfi_offset x29, -32",
            ".cfi_offset x30, -24",
            ".cfi_offset x19, -16",
            "ldr x19, [x2, #16]",
            "ldp x29, x30, [x2]",
            "add sp, x2, #32",
            "br x30",
            ".cfi_restore_state",
            in("x2") to.0.as_ptr(),
            in("x1") arg,
            options(noreturn),
        )
    }
}

/// Prefetches memory that is needed soon.
#[inline(always)]
pub(crate) fn prefetch(address: *const u8) {
    // SAFETY: this is a hint. It faults at no address, and has no visible effect.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{0}]", in(reg) address, options(nostack, preserves_flags, readonly))
    };
}
