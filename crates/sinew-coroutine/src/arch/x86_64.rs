//! x86-64, System V. Exports the items that the table in the parent module lists.
//!
//! # A suspended side
//!
//! ```text
//!            higher addresses
//!          |  frames of the side   |
//!  Context +-----------------------+  <- rsp when it goes on
//!          |  rip to go on at      |  -8
//!          |  rbp                  |  -16
//!          |  rbx                  |  -24
//!          +-----------------------+
//!            lower addresses: free
//! ```
//!
//! The other callee-saved registers (r12 to r15) are *clobbered* by the assembly rather than saved, so that the
//! compiler saves those, and only those, that it has in use at that place. It cannot be told so of rbx and rbp,
//! which it reserves for itself; these two are stored by hand.
//!
//! A side is left by a jump through memory. A `ret` would pop the return-address predictor, whose entries belong to the
//! other stack, and cost a misprediction each time.
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
//! Trusted with moving the stack pointer. The argument is the symmetry of [`switch`]: whatever one side stores
//! before it gives up the stack pointer, the next switch to it loads again, and everything else that a function
//! may expect to find unchanged is declared clobbered.
#![expect(unsafe_code, reason = "the context switch is assembly")]

use core::arch::{asm, naked_asm};
use core::mem::offset_of;
use core::ptr::NonNull;

use super::{Arg, Base, Context, Entry, Registers};

/// What a suspended side leaves on its stack, just below its [`Context`]; see the diagram above.
#[repr(C)]
struct Saved {
    rbx: usize,
    rbp: usize,
    rip: usize,
}

// The offsets of the loads and stores in `switch` and `leave`, and of the unwind table of `start`.
const _: () = assert!(offset_of!(Saved, rbx) == 0);
const _: () = assert!(offset_of!(Saved, rbp) == 8);
const _: () = assert!(offset_of!(Saved, rip) == 16);
const _: () = assert!(size_of::<Saved>() == 24);

/// Where a side will go on.
///
/// # Safety
///
/// The side is suspended, and stays so during the call.
pub(super) unsafe fn registers(context: Context) -> Registers {
    let saved = context.0.cast::<Saved>().as_ptr().wrapping_sub(1);
    // SAFETY: a suspended side has left a `Saved` there.
    let saved = unsafe { saved.read() };
    Registers { ip: saved.rip, sp: context.0.addr().get(), fp: saved.rbp }
}

/// Prepares the stack below `base` so that the first [`switch`] to it calls `entry`.
///
/// # Safety
///
/// `base` is aligned as its type asks, lies on a stack that nobody uses, and has room below it for a [`Saved`] and
/// for all that `entry` needs.
#[inline]
pub(crate) unsafe fn init(base: *mut Base, entry: Entry) -> Context {
    let saved = base.cast::<Saved>().wrapping_sub(1);
    let fresh = Saved { rbx: entry as usize, rbp: base.addr(), rip: start as *const () as usize };
    // SAFETY: the caller grants the memory below `base`; a `Saved` is word-aligned there since `base` is.
    unsafe { saved.write(fresh) };
    // SAFETY: the caller's base is not null.
    Context(unsafe { NonNull::new_unchecked(base.cast()) })
}

/// The outermost frame of every coroutine: calls the entry that [`init`] left in rbx.
///
/// Its unwind table says that the caller's frame is the side that the base links to. The `Saved` there has rip, rbp
/// and rbx just where a callee that pushed them would have them: below the canonical frame address, which is
/// therefore the link itself. Without a link it is the end of the base, where the words below are zero: the outermost
/// frame, to whoever walks. It is marked as a signal frame because the caller's stack may lie above or below this
/// one, which gdb accepts of signal frames alone; for the same reason the address after the call is looked up as it
/// is, and must still belong to this function.
#[unsafe(naked)]
unsafe extern "C" fn start() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_signal_frame",
        // DW_CFA_def_cfa_expression: link + ((base + 32) & -(0 >= link)), since valgrind knows no branches.
        // 14 bytes: DW_OP_breg6 (rbp) 0, deref; breg6 32; lit0; lit0; breg6 0, deref; ge; minus; and; plus.
        ".cfi_escape 0x0f, 0x0e, 0x76, 0x00, 0x06, 0x76, 0x20, 0x30, 0x30, 0x76, 0x00, 0x06, 0x2a, 0x1c, 0x1a, 0x22",
        ".cfi_offset rip, -8",
        ".cfi_offset rbp, -16",
        ".cfi_offset rbx, -24",
        // The first two arguments are those of the switch and lie where they belong.
        "mov rdx, rbp",
        // A call that is never returned from would leave the processor's own stack of return addresses one too high, and
        // have it guess wrong for each frame of whoever resumed this.
        "lea rax, [rip + 2f]",
        "push rax",
        "jmp rbx",
        "2:",
        "ud2",
        ".cfi_endproc",
    )
}

/// Suspends this side and goes on with `to`. Returns when somebody switches back, with the context of that side
/// (none if it left) and its argument.
///
/// # Safety
///
/// `to` is a suspended side, and is used only once. Whoever switches back does so on the same terms, and gives the
/// argument that the caller expects.
#[inline(always)]
pub(crate) unsafe fn switch(to: Context, arg: Arg) -> (Option<Context>, Arg) {
    let from: *mut u8;
    let received: Arg;
    // SAFETY: the switch back to us restores rsp to what it was, and rbx and rbp from where they were stored; all other registers are operands or declared clobbered. Memory is assumed clobbered, as by any
    // call. The caller vouches for `to`.
    unsafe {
        asm!(
            // Leave on this stack what the way back needs. Below rsp: the red zone keeps it from signal handlers, and
            // plain moves are faster than pushes, which would tie each store to the one before.
            "lea rax, [rip + 2f]",
            "mov [rsp - 24], rbx",
            "mov [rsp - 16], rbp",
            "mov [rsp - 8], rax",
            // Go on as the other side; the side that we leave is the first word that it learns. From here to the jump
            // the caller of this place is the other side, for a profiler that interrupts and unwinds.
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
            // Never executed. Unwinders look return addresses up one byte before, which must not be the jump.
            "nop",
            // Somebody came back.
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

/// Goes on with `to`, for good: this side is never switched to again.
///
/// # Safety
///
/// As for [`switch`]; besides, nothing on this stack is needed any more but what `arg` may point to, and that only
/// until the other side has taken it.
#[inline(always)]
pub(crate) unsafe fn leave(to: Context, arg: Arg) -> ! {
    // SAFETY: nothing follows on this side; the other side's registers are restored as `switch` saved them.
    unsafe {
        asm!(
            // No context: this side is over.
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

/// Has memory fetched that is needed soon.
#[inline(always)]
pub(crate) fn prefetch(address: *const u8) {
    // SAFETY: a hint: no address makes it fault, and it changes nothing that can be seen.
    unsafe {
        core::arch::asm!("prefetcht0 [{0}]", in(reg) address, options(nostack, preserves_flags, readonly))
    };
}
