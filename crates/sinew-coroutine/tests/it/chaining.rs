//! Handlers of SIGSEGV that were installed before ours, and signals that no fault caused: both work
//! as if our handler did not exist.
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

/// Records that a handler was called. Ends a process in which that happens again and again.
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

/// Installs a handler, `SIG_DFL` or `SIG_IGN`, and returns the previous action.
fn set(handler: usize, flags: libc::c_int, mask: &[libc::c_int]) -> libc::sigaction {
    // SAFETY: all zeros is a valid value of this C struct.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    for &signal in mask {
        // SAFETY: adds a signal to a set of this function's.
        unsafe { libc::sigaddset(&raw mut action.sa_mask, signal) };
    }
    let mut before = MaybeUninit::uninit();
    // SAFETY: the handler does only what a signal handler may do.
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

/// Exits with a status that has one bit for each of two signals, set if the signal is blocked.
extern "C" fn tell_mask(_signal: libc::c_int) {
    let mut mask = MaybeUninit::uninit();
    // SAFETY: only reads the mask.
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

/// ThreadSanitizer blocks signals of its own choice in a handler, so this is not for it.
#[cfg(not(sinew_tsan))]
#[test]
fn a_handler_that_wants_no_signal_blocked_has_none_blocked() {
    let name = "chaining::a_handler_that_wants_no_signal_blocked_has_none_blocked";
    assert_eq!(told_mask(name, libc::SA_NODEFER, &[]), Some(100));
}

extern "C" fn repair(_signal: libc::c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
    say_called();
    // SAFETY: the kernel passes the interrupted context to a handler with `SA_SIGINFO`.
    skip_write(unsafe { &mut *context.cast() });
}

/// Makes the interrupted code continue after the write of [`write_once`].
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

/// Writes to an address that faults, with an instruction of known length.
fn write_once() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: none: the fault is intended. `mov [rax], cl` has two bytes.
    unsafe {
        std::arch::asm!("mov byte ptr [rax], cl", in("rax") 8, in("cl") 1_u8)
    };
    #[cfg(target_arch = "aarch64")]
    // SAFETY: none: the fault is intended.
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
        // SAFETY: only reads the mask.
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
fn a_signal_that_was_sent_goes_to_the_previous_handler() {
    let name = "chaining::a_signal_that_was_sent_goes_to_the_previous_handler";
    let output = in_child(name, || {
        set(report as *const () as usize, 0, &[]);
        overflow::install().expect("a handler");
        send_to_self();
    });
    assert!(output.status.success(), "{output:?}");
    assert_eq!(calls(&output), 1);
}

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Passes all signals to the next handler.
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
fn handlers_that_pass_faults_on_to_each_other_terminate() {
    let output = in_child("chaining::handlers_that_pass_faults_on_to_each_other_terminate", || {
        let flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        set(pass_on as *const () as usize, flags, &[]);
        overflow::install().expect("a handler");
        // Installed once more, after ours, with ours as the next handler.
        NEXT.store(set(pass_on as *const () as usize, flags, &[]).sa_sigaction, Ordering::Relaxed);
        touch_null();
    });
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{output:?}");
    assert_eq!(calls(&output), 2, "in front of ours, and behind it");
}
