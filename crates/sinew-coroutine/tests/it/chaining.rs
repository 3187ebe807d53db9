//! Handlers of SIGSEGV that were there before, and signals that no fault caused: both go their way as if there were no
//! handler of ours.
//!
//! # Safety
//!
//! Crashes processes of its own, on purpose.
#![expect(unsafe_code, reason = "signals are sent and handled")]

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use sinew_coroutine::overflow;

use crate::overflow::{assert_plain, touch_null};
use crate::support::{in_child, stderr};

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Says that a handler was called; ends a process in which that happens again and again.
fn say_called() {
    let words = b"called\n";
    // SAFETY: may be called in a signal handler.
    unsafe { libc::write(2, words.as_ptr().cast(), words.len()) };
    if CALLS.fetch_add(1, Ordering::Relaxed) > 5 {
        // SAFETY: as above.
        unsafe { libc::_exit(42) };
    }
}

fn calls(output: &Output) -> usize {
    stderr(output).matches("called").count()
}

/// Puts a handler, `SIG_DFL` or `SIG_IGN` in the place of the one that is there, which it returns.
fn set(handler: usize, flags: libc::c_int, mask: &[libc::c_int]) -> libc::sigaction {
    // SAFETY: all zeros is a valid value of this C struct.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    for &signal in mask {
        // SAFETY: adds a signal to a set of ours.
        unsafe { libc::sigaddset(&raw mut action.sa_mask, signal) };
    }
    let mut before = MaybeUninit::uninit();
    // SAFETY: the handler does what a handler may.
    assert_eq!(unsafe { libc::sigaction(libc::SIGSEGV, &raw const action, before.as_mut_ptr()) }, 0);
    // SAFETY: the kernel has written it.
    unsafe { before.assume_init() }
}

extern "C" fn report(_signal: libc::c_int) {
    say_called();
}

#[test]
fn a_handler_that_wants_one_call_gets_one() {
    let output = in_child("chaining::a_handler_that_wants_one_call_gets_one", || {
        set(report as *const () as usize, libc::SA_RESETHAND | libc::SA_ONSTACK, &[]);
        overflow::install().expect("a handler");
        touch_null();
    });
    assert_plain(&output);
    assert_eq!(calls(&output), 1);
}

/// Leaves with a bit for each of two signals that is blocked.
extern "C" fn tell_mask(_signal: libc::c_int) {
    let mut mask = MaybeUninit::uninit();
    // SAFETY: asks for the mask.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), mask.as_mut_ptr()) };
    // SAFETY: the call above has written it.
    let fault = unsafe { libc::sigismember(mask.as_ptr(), libc::SIGSEGV) };
    // SAFETY: as above.
    let user = unsafe { libc::sigismember(mask.as_ptr(), libc::SIGUSR1) };
    // SAFETY: may be called in a signal handler.
    unsafe { libc::_exit(100 + fault + 2 * user) };
}

fn told_mask(name: &str, flags: libc::c_int, mask: &[libc::c_int]) -> Option<i32> {
    let output = in_child(name, || {
        set(tell_mask as *const () as usize, flags, mask);
        overflow::install().expect("a handler");
        touch_null();
    });
    output.status.code()
}

#[test]
fn a_handler_has_the_signals_blocked_that_it_wants_blocked() {
    let name = "chaining::a_handler_has_the_signals_blocked_that_it_wants_blocked";
    assert_eq!(told_mask(name, 0, &[libc::SIGUSR1]), Some(103));
}

/// ThreadSanitizer blocks signals of its own choice in a handler.
#[cfg(not(sinew_tsan))]
#[test]
fn a_handler_that_wants_no_signal_blocked_has_none_blocked() {
    let name = "chaining::a_handler_that_wants_no_signal_blocked_has_none_blocked";
    assert_eq!(told_mask(name, libc::SA_NODEFER, &[]), Some(100));
}

extern "C" fn repair(_signal: libc::c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
    say_called();
    // SAFETY: the kernel hands a handler with `SA_SIGINFO` the context it interrupted.
    skip_write(unsafe { &mut *context.cast() });
}

/// Has the interrupted code go on after the write of [`write_once`].
fn skip_write(context: &mut libc::ucontext_t) {
    #[cfg(target_arch = "x86_64")]
    {
        context.uc_mcontext.gregs[libc::REG_RIP as usize] += 2;
    }
    #[cfg(target_arch = "aarch64")]
    {
        context.uc_mcontext.pc += 4;
    }
}

/// Writes to an address that faults, by an instruction whose length is known.
fn write_once() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: none: it is to fault. `mov [rax], cl` has two bytes.
    unsafe {
        std::arch::asm!("mov byte ptr [rax], cl", in("rax") 8, in("cl") 1_u8)
    };
    #[cfg(target_arch = "aarch64")]
    // SAFETY: none: it is to fault.
    unsafe {
        std::arch::asm!("strb {value:w}, [{address}]", value = in(reg) 1, address = in(reg) 8_usize)
    };
}

#[test]
fn a_handler_that_repairs_faults_repairs_many_and_leaves_the_mask_alone() {
    let name = "chaining::a_handler_that_repairs_faults_repairs_many_and_leaves_the_mask_alone";
    let output = in_child(name, || {
        set(repair as *const () as usize, libc::SA_SIGINFO, &[libc::SIGUSR1]);
        overflow::install().expect("a handler");
        (0..3).for_each(|_| write_once());
        let mut mask = MaybeUninit::uninit();
        // SAFETY: asks for the mask.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), mask.as_mut_ptr()) };
        // SAFETY: the call above has written it.
        assert_eq!(unsafe { libc::sigismember(mask.as_ptr(), libc::SIGUSR1) }, 0);
    });
    assert!(output.status.success(), "{output:?}");
    assert_eq!(calls(&output), 3);
}

fn send_to_self() {
    // SAFETY: no precondition.
    unsafe { libc::raise(libc::SIGSEGV) };
    eprintln!("survived");
}

#[test]
fn a_signal_that_was_sent_and_was_ignored_is_ignored() {
    let output = in_child("chaining::a_signal_that_was_sent_and_was_ignored_is_ignored", || {
        set(libc::SIG_IGN, 0, &[]);
        overflow::install().expect("a handler");
        send_to_self();
        send_to_self();
        touch_null();
    });
    assert_plain(&output);
    assert_eq!(stderr(&output).matches("survived").count(), 2);
}

#[test]
fn a_signal_that_was_sent_and_was_not_handled_kills_at_once() {
    let output = in_child("chaining::a_signal_that_was_sent_and_was_not_handled_kills_at_once", || {
        set(libc::SIG_DFL, 0, &[]);
        overflow::install().expect("a handler");
        send_to_self();
    });
    assert_plain(&output);
    assert!(!stderr(&output).contains("survived"), "{output:?}");
}

#[test]
fn a_signal_that_was_sent_goes_to_the_handler_that_was_there_before() {
    let name = "chaining::a_signal_that_was_sent_goes_to_the_handler_that_was_there_before";
    let output = in_child(name, || {
        set(report as *const () as usize, 0, &[]);
        overflow::install().expect("a handler");
        send_to_self();
    });
    assert!(output.status.success(), "{output:?}");
    assert_eq!(calls(&output), 1);
}

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Passes all on to the next handler.
extern "C" fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut c_void);
    say_called();
    let next = NEXT.load(Ordering::Relaxed);
    if next != libc::SIG_DFL {
        // SAFETY: the address of a handler that was installed.
        let next = unsafe { std::mem::transmute::<usize, Handler>(next) };
        next(signal, info, context);
    }
}

#[test]
fn handlers_that_pass_faults_on_to_each_other_come_to_an_end() {
    let output = in_child("chaining::handlers_that_pass_faults_on_to_each_other_come_to_an_end", || {
        let flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        set(pass_on as *const () as usize, flags, &[]);
        overflow::install().expect("a handler");
        // Once more, in front of ours, and with ours as the next one.
        NEXT.store(set(pass_on as *const () as usize, flags, &[]).sa_sigaction, Ordering::Relaxed);
        touch_null();
    });
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{output:?}");
    assert_eq!(calls(&output), 2, "in front of ours, and behind it");
}
