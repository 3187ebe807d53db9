//! Alternate signal stacks: several protections of a thread, and other code that changes the stack
//! meanwhile.
//!
//! # Safety
//!
//! Replaces the alternate stack of its threads by memory that stays mapped.
#![expect(unsafe_code, reason = "the alternate stack is replaced")]

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

use sinew_coroutine::overflow;

use crate::support::{in_child, stderr};

/// Changes the alternate stack of this thread, or only reads it. Returns the previous one.
fn exchange(new: Option<&libc::stack_t>) -> libc::stack_t {
    let mut old = MaybeUninit::uninit();
    // SAFETY: the stack is memory that stays mapped, or none is given.
    assert_eq!(unsafe { libc::sigaltstack(new.map_or(ptr::null(), ptr::from_ref), old.as_mut_ptr()) }, 0);
    // SAFETY: the kernel has written it.
    unsafe { old.assume_init() }
}

/// Makes memory that is never unmapped the alternate stack of this thread.
fn set_alternate(size: usize) -> libc::stack_t {
    let memory = Box::leak(vec![0_u8; size].into_boxed_slice());
    let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: size };
    exchange(Some(&stack));
    stack
}

/// Returns the most bytes that the kernel puts on the stack of a handler.
fn signal_frame() -> usize {
    // SAFETY: no precondition.
    let size = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) };
    usize::try_from(size).expect("small").max(libc::MINSIGSTKSZ)
}

fn is_protected() -> bool {
    exchange(None).ss_flags & libc::SS_DISABLE == 0
}

fn is_mapped(address: *mut c_void) -> bool {
    let page = 4096;
    // SAFETY: the kernel writes a byte, or returns an error if nothing is mapped there.
    unsafe {
        libc::mincore(address.map_addr(|address| address & !(page - 1)), page, [0_u8].as_mut_ptr()) == 0
    }
}

/// Runs a test on a thread without an alternate stack, and restores the thread's alternate stack
/// afterwards.
fn without_alternate(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let none = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
            let before = exchange(Some(&none));
            test();
            exchange(Some(&before));
        });
    });
}

#[test]
fn the_second_protection_of_a_thread_does_not_end_with_the_first() {
    without_alternate(|| {
        let first = overflow::protect_thread().expect("an alternate stack");
        let second = overflow::protect_thread().expect("an alternate stack");
        drop(first);
        assert!(is_protected());
        drop(second);
        let left = exchange(None);
        assert!(left.ss_flags & libc::SS_DISABLE != 0 || is_mapped(left.ss_sp), "what is left is there");
    });
}

/// Runs in a process of its own, so that no other thread maps memory where the stack was.
#[test]
fn protections_that_end_in_order_leave_nothing() {
    let output = in_child("alternate::protections_that_end_in_order_leave_nothing", || {
        without_alternate(|| {
            let first = overflow::protect_thread().expect("an alternate stack");
            let second = overflow::protect_thread().expect("an alternate stack");
            let stack = exchange(None).ss_sp;
            drop(second);
            assert!(is_protected());
            drop(first);
            assert!(!is_protected() && !is_mapped(stack));
        });
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_protected_thread_has_64_kib_beyond_the_frame_of_the_kernel() {
    without_alternate(|| {
        let _protection = overflow::protect_thread().expect("an alternate stack");
        let (size, least) = (exchange(None).ss_size, signal_frame() + 64 * 1024);
        // Rounded up to whole pages, which have 64 KiB at most.
        assert!((least..least + 64 * 1024).contains(&size), "{size}");
    });
}

/// The handler needs 16 KiB beyond the frame of the kernel.
#[test]
fn an_alternate_stack_is_replaced_only_if_it_is_too_small() {
    let enough = signal_frame() + 16 * 1024;
    for (size, is_kept) in [(enough - 1, false), (enough, true), (1 << 20, true)] {
        without_alternate(|| {
            let theirs = set_alternate(size);
            let protection = overflow::protect_thread().expect("an alternate stack");
            assert_eq!(exchange(None).ss_sp == theirs.ss_sp, is_kept, "{size}");
            drop(protection);
            assert_eq!(exchange(None).ss_sp, theirs.ss_sp, "{size}");
        });
    }
}

#[test]
fn a_stack_that_other_code_may_put_back_stays() {
    without_alternate(|| {
        let protection = overflow::protect_thread().expect("an alternate stack");
        let ours = exchange(None);
        let theirs = set_alternate(64 * 1024);
        drop(protection);
        assert_eq!(exchange(Some(&ours)).ss_sp, theirs.ss_sp, "theirs is left alone");
        assert!(is_mapped(ours.ss_sp));
    });
}
