//! Alternate signal stacks: several protections of a thread, and somebody else who changes the stack meanwhile.
//!
//! # Safety
//!
//! Replaces the alternate stack of its threads by memory that stays.
#![expect(unsafe_code, reason = "the alternate stack is replaced")]

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

use sinew_coroutine::overflow;

use crate::support::{in_child, stderr};

/// Changes the alternate stack of this thread, or only asks for it. Returns the one before.
fn exchange(new: Option<&libc::stack_t>) -> libc::stack_t {
    let mut old = MaybeUninit::uninit();
    // SAFETY: memory that stays, or none.
    assert_eq!(unsafe { libc::sigaltstack(new.map_or(ptr::null(), ptr::from_ref), old.as_mut_ptr()) }, 0);
    // SAFETY: the kernel has written it.
    unsafe { old.assume_init() }
}

fn is_protected() -> bool {
    exchange(None).ss_flags & libc::SS_DISABLE == 0
}

fn is_mapped(address: *mut c_void) -> bool {
    let page = 4096;
    // SAFETY: the kernel writes a byte, or says that nothing is there.
    unsafe {
        libc::mincore(address.map_addr(|address| address & !(page - 1)), page, [0_u8].as_mut_ptr()) == 0
    }
}

/// Runs a test on a thread without an alternate stack, and gives it back what it had.
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

/// In a process of its own, so that nobody else maps something where the stack was.
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
fn a_stack_that_somebody_may_put_back_stays() {
    without_alternate(|| {
        let protection = overflow::protect_thread().expect("an alternate stack");
        let memory = Box::leak(vec![0_u8; 64 * 1024].into_boxed_slice());
        let theirs = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: memory.len() };
        let ours = exchange(Some(&theirs));
        drop(protection);
        assert_eq!(exchange(Some(&ours)).ss_sp, theirs.ss_sp, "theirs is left alone");
        assert!(is_mapped(ours.ss_sp));
    });
}
