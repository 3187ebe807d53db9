//! x86-64, System V. Exports the items that the table in the parent module lists.
//!
//! # A suspended side
//!
//! ```text
//!           higher addresses
//!         |  frames of the side   |
//! Context +-----------------------+  <- rsp when it continues
//!         |  rip to continue at   |  -8
//!         |  rbp                  |  -16
//!         |  rbx                  |  -24
//!         +-----------------------+
//!           lower addresses: free
//! ```
//!
//! The assembly does not save the other callee-saved registers (r12 to r15), but declares them
//! *clobbered*. So the compiler saves only those that it uses at that place. rbx and rbp cannot be
//! declared clobbered, because the compiler reserves them; the assembly stores these two itself.
//!
//! A switch leaves a side by a jump through memory. A `ret` would use the return-address predictor,
//! whose entries belong to the other stack, and cost a misprediction each time.
//!
//! # A fresh stack
//!
//! ```text
//!          +-----------------------+
//!          |  Base                 |  16-aligned; the coroutine's own data follows above
//!  Context +-----------------------+  <- rsp when `start` begins
//!          |  rip = start          |
//!          |  rbp = address of Base|
//!          |  rbx = entry          |
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

/// The registers that a suspended side saves on its stack, just below its [`Context`]; see the
/// diagram above.
#[repr(C)]
struct Saved {
    rbx: usize,
    rbp: usize,
    rip: usize,
}

// These are the offsets in the loads and stores of `switch` and `leave`, and in the unwind table of
// `start`.
const _: () = assert!(offset_of!(Saved, rbx) == 0);
const _: () = assert!(offset_of!(Saved, rbp) == 8);
const _: () = assert!(offset_of!(Saved, rip) == 16);
const _: () = assert!(size_of::<Saved>() == 24);

/// Returns where a side will continue.
///
/// # Safety
///
/// The side is suspended, and stays suspended during the call.
pub(super) unsafe fn registers(context: Context) -> Registers {
    let saved = context.0.cast::<Saved>().as_ptr().wrapping_sub(1);
    // SAFETY: a suspended side has saved a `Saved` there.
    let saved = unsafe { saved.read() };
    Registers { ip: saved.rip, sp: context.0.addr().get(), fp: saved.rbp }
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
    let fresh = Saved { rbx: entry as usize, rbp: base.addr(), rip: start as *const () as usize };
    // SAFETY: the caller gives this function the memory below `base`. A `Saved` is word-aligned
    // there since `base` is.
    unsafe { saved.write(fresh) };
    // SAFETY: the caller's base is not null.
    Context(unsafe { NonNull::new_unchecked(base.cast()) })
}

/// The outermost frame of every coroutine: calls the entry that [`init`] stored in rbx.
///
/// Its unwind table says that the caller's frame is the side that the base links to. The `Saved`
/// there has rip, rbp and rbx where a callee that pushed them would have them: below the canonical
/// frame address, which is therefore the link itself. Without a link, the canonical frame address
/// is the end of the base. The words below it are zero, and unwinders end there: it is the
/// outermost frame. The frame is marked as a signal frame because the caller's stack may lie above
/// or below this one, which gdb accepts only of signal frames. For a signal frame, unwinders look
/// up the address after the call as it is, so it must still belong to this function.
#[unsafe(naked)]
unsafe extern "C" fn start() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_signal_frame",
        // DW_CFA_def_cfa_expression: link + ((base + 32) & -(0 >= link)). It has no branch, since
        // valgrind supports none. 14 bytes: DW_OP_breg6 (rbp) 0, deref; breg6 32; lit0; lit0;
        // breg6 0, deref; ge; minus; and; plus.
        ".cfi_escape 0x0f, 0x0e, 0x76, 0x00, 0x06, 0x76, 0x20, 0x30, 0x30, 0x76, 0x00, 0x06, 0x2a, 0x1c, 0x1a, 0x22",
        ".cfi_offset rip, -8",
        ".cfi_offset rbp, -16",
        ".cfi_offset rbx, -24",
        // The first two arguments are those of the switch, and are in the right registers already.
        "mov rdx, rbp",
        // A call without a return would leave one entry too many in the processor's stack of return
        // addresses, and the processor would then mispredict the return of each frame of the
        // resumer. So this pushes the address and jumps.
        "lea rax, [rip + 2f]",
        "push rax",
        "jmp rbx",
        "2:",
        "ud2",
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
    // SAFETY: the switch back restores rsp to what it was, and rbx and rbp from where they were
    // stored; all other registers are operands or declared clobbered. Memory is assumed clobbered,
    // as by any call. The caller promises that `to` is suspended.
    unsafe {
        asm!(
            // Store on this stack what the way back needs. It lies below rsp, where the red zone
            // protects it from signal handlers. Plain moves are faster than pushes, which would
            // make each store depend on the one before.
            "lea rax, [rip + 2f]",
            "mov [rsp - 24], rbx",
            "mov [rsp - 16], rbp",
            "mov [rsp - 8], rax",
            // Continue the other side; its first argument is the side that we leave. From here to
            // the jump, the unwind table names the other side as the caller of this place, for a
            // profiler that interrupts and unwinds.
            "xchg rsp, rdi",
            ".cfi_remember_state",
            ".cfi_def_cfa rsp, 0",
            ".cfi_offset rip, -8",
            ".cfi_offset rbp, -16",
            ".cfi_offset rbx, -24",
            "mov rbx, [rsp - 24]",
            "mov rbp, [rsp - 16]",
            "jmp [rsp - 8]",
            ".cfi_restore_state",
            // Never executed. Unwinders look up the byte before a return address, which must not be
            // the jump.
            "nop",
            // The other side has switched back.
            "2:",
            inout("rdi") to.0.as_ptr() => from,
            inout("rsi") arg => received,
            lateout("r12") _,
            lateout("r13") _,
            lateout("r14") _,
            lateout("r15") _,
            clobber_abi("sysv64"),
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
            "mov rsp, rdi",
            ".cfi_remember_state",
            ".cfi_def_cfa rsp, 0",
            ".cfi_offset rip, -8",
            ".cfi_offset rbp, -16",
            ".cfi_offset rbx, -24",
            "xor edi, edi",
            "mov rbx, [rsp - 24]",
            "mov rbp, [rsp - 16]",
            "jmp [rsp - 8]",
            ".cfi_restore_state",
            in("rdi") to.0.as_ptr(),
            in("rsi") arg,
            options(noreturn),
        )
    }
}

/// Prefetches memory that is needed soon.
#[inline(always)]
pub(crate) fn prefetch(address: *const u8) {
    // SAFETY: this is a hint. It faults at no address, and has no visible effect.
    unsafe {
        core::arch::asm!("prefetcht0 [{0}]", in(reg) address, options(nostack, preserves_flags, readonly))
    };
}
