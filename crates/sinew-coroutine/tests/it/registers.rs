//! Callee-saved registers: each side finds its own unchanged, even if the other side changed them.
//!
//! # Safety
//!
//! Naked functions that fill the callee-saved registers, call, compare, and restore them as the
//! convention requires.
#![expect(unsafe_code, reason = "registers are set in assembly")]

use std::arch::naked_asm;

use sinew_coroutine::{CoroutineState, Suspender};

use crate::support::{Tested, coroutine, leak_checked};

/// Calls `callee(argument)` with every callee-saved register derived from `seed`. Returns how many
/// of them differ afterwards.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn differing_after(
    seed: u64,
    callee: unsafe extern "C" fn(*mut ()),
    argument: *mut (),
) -> u64 {
    naked_asm!(
        // Save the caller's registers and the seed: seven words, so that the stack is aligned for
        // the call.
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "push rdi",
        "lea rbx, [rdi + 1]",
        "lea rbp, [rdi + 2]",
        "lea r12, [rdi + 3]",
        "lea r13, [rdi + 4]",
        "lea r14, [rdi + 5]",
        "lea r15, [rdi + 6]",
        "mov rdi, rdx",
        "call rsi",
        "pop rdi",
        // Each comparison adds 1 to eax if its register has changed.
        "xor eax, eax",
        "xor ecx, ecx",
        "sub rbx, rdi",
        "cmp rbx, 1",
        "setne cl",
        "add eax, ecx",
        "sub rbp, rdi",
        "cmp rbp, 2",
        "setne cl",
        "add eax, ecx",
        "sub r12, rdi",
        "cmp r12, 3",
        "setne cl",
        "add eax, ecx",
        "sub r13, rdi",
        "cmp r13, 4",
        "setne cl",
        "add eax, ecx",
        "sub r14, rdi",
        "cmp r14, 5",
        "setne cl",
        "add eax, ecx",
        "sub r15, rdi",
        "cmp r15, 6",
        "setne cl",
        "add eax, ecx",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbp",
        "pop rbx",
        "ret",
    )
}

/// Calls `callee(argument)` with x19 to x29 and d8 to d15 derived from `seed`. Returns how many of
/// them differ afterwards.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn differing_after(
    seed: u64,
    callee: unsafe extern "C" fn(*mut ()),
    argument: *mut (),
) -> u64 {
    naked_asm!(
        "stp x29, x30, [sp, #-176]!",
        "stp x19, x20, [sp, #16]",
        "stp x21, x22, [sp, #32]",
        "stp x23, x24, [sp, #48]",
        "stp x25, x26, [sp, #64]",
        "stp x27, x28, [sp, #80]",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "str x0, [sp, #160]",
        ".macro sinew_fill n",
        "add x\\n, x0, #\\n",
        ".endm",
        ".irp n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29",
        "sinew_fill \\n",
        ".endr",
        ".irp n, 8, 9, 10, 11, 12, 13, 14, 15",
        "add x9, x0, #\\n",
        "fmov d\\n, x9",
        ".endr",
        "mov x9, x1",
        "mov x0, x2",
        "blr x9",
        "ldr x1, [sp, #160]",
        "mov x0, xzr",
        ".irp n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29",
        "sub x9, x\\n, x1",
        "cmp x9, #\\n",
        "cinc x0, x0, ne",
        ".endr",
        ".irp n, 8, 9, 10, 11, 12, 13, 14, 15",
        "fmov x9, d\\n",
        "sub x9, x9, x1",
        "cmp x9, #\\n",
        "cinc x0, x0, ne",
        ".endr",
        "ldp x19, x20, [sp, #16]",
        "ldp x21, x22, [sp, #32]",
        "ldp x23, x24, [sp, #48]",
        "ldp x25, x26, [sp, #64]",
        "ldp x27, x28, [sp, #80]",
        "ldp d8, d9, [sp, #96]",
        "ldp d10, d11, [sp, #112]",
        "ldp d12, d13, [sp, #128]",
        "ldp d14, d15, [sp, #144]",
        "ldp x29, x30, [sp], #176",
        "ret",
    )
}

type Checked = Tested<u64, (), u64>;

unsafe extern "C" fn resume(coroutine: *mut ()) {
    // SAFETY: `resume_checked` passes a coroutine that it borrows exclusively.
    let coroutine = unsafe { &mut *coroutine.cast::<Checked>() };
    coroutine.resume(0);
}

/// Resumes with the registers filled, and returns how many changed.
fn resume_checked(coroutine: &mut Checked, seed: u64) -> u64 {
    // SAFETY: `resume` gets the argument that it expects.
    unsafe { differing_after(seed, resume, std::ptr::from_mut(coroutine).cast()) }
}

unsafe extern "C" fn suspend(suspender: *mut ()) {
    // SAFETY: `suspend_checked` passes a suspender.
    let suspender = unsafe { &*suspender.cast::<Suspender<u64, ()>>() };
    suspender.suspend(());
}

/// Suspends with the registers filled, and returns how many changed.
fn suspend_checked(suspender: &Suspender<u64, ()>, seed: u64) -> u64 {
    // SAFETY: `suspend` gets the argument that it expects.
    unsafe { differing_after(seed, suspend, std::ptr::from_ref(suspender).cast_mut().cast()) }
}

unsafe extern "C" fn do_nothing(_: *mut ()) {}

#[cfg(target_arch = "x86_64")]
unsafe extern "C" fn spoil(_: *mut ()) {
    // SAFETY: none: the convention is broken on purpose, and `differing_after` restores its
    // caller's registers.
    unsafe { std::arch::asm!("mov r13, 5", options(nomem, nostack, preserves_flags)) }
}

#[cfg(target_arch = "aarch64")]
unsafe extern "C" fn spoil(_: *mut ()) {
    // SAFETY: none: the convention is broken on purpose, and `differing_after` restores its
    // caller's registers.
    unsafe { std::arch::asm!("fmov d11, xzr", options(nomem, nostack, preserves_flags)) }
}

#[test]
fn the_check_finds_a_changed_register() {
    // SAFETY: the callees ignore their argument.
    assert_eq!(unsafe { differing_after(1000, do_nothing, std::ptr::null_mut()) }, 0);
    // SAFETY: as above.
    assert_eq!(unsafe { differing_after(1000, spoil, std::ptr::null_mut()) }, 1);
}

#[test]
fn both_sides_keep_their_registers() {
    leak_checked(|| {
        let mut coroutine = coroutine(|suspender, _first| {
            let mut differing = 0;
            for round in 0..100 {
                differing += suspend_checked(suspender, 0x1111_0000 + round * 256);
            }
            differing
        });
        for round in 0..100 {
            assert_eq!(resume_checked(&mut coroutine, 0x2222_0000 + round * 256), 0);
        }
        assert_eq!(coroutine.resume(0), CoroutineState::Complete(0));
    });
}

#[test]
fn a_resumer_keeps_its_registers_when_the_body_ends() {
    leak_checked(|| {
        let mut coroutine: Checked = coroutine(|suspender, _first| suspend_checked(suspender, 77));
        assert_eq!(resume_checked(&mut coroutine, 55), 0);
        assert_eq!(resume_checked(&mut coroutine, 66), 0);
        assert!(coroutine.is_done());
    });
}
