//! Signals as the system has them: sent to this process, and handled by functions that know nothing
//! of channels.
//!
//! # Safety
//!
//! Trusted with handlers that only count, and with processes of the tests' own.
#![expect(unsafe_code, reason = "signals are sent and handled")]

use sinew::signal::Signal;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often [`counts`] was called.
pub(super) static CALLS: AtomicUsize = AtomicUsize::new(0);

/// What [`passes_on`] calls.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// The address of a handler.
pub(super) type Handler = usize;

/// To this process: any of its threads may get it.
pub(super) fn send(signal: Signal) {
    let this = std::process::id().cast_signed();
    // SAFETY: this process is one of a test.
    assert_eq!(unsafe { libc::kill(this, signal.as_raw()) }, 0);
}

/// To this thread: it has been handled when this returns. Returns what the handler has made of
/// `errno`.
pub(super) fn raise(signal: Signal, errno: i32) -> i32 {
    // SAFETY: every thread has one.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: it is this thread's.
    unsafe { place.write(errno) };
    // SAFETY: as above.
    assert_eq!(unsafe { libc::raise(signal.as_raw()) }, 0);
    // SAFETY: as above.
    unsafe { place.read() }
}

/// All of them to this thread, at one moment: they have been handled when this returns.
pub(super) fn raise_together(signals: &[Signal]) {
    let mut set = MaybeUninit::uninit();
    // SAFETY: it becomes the empty set.
    assert_eq!(unsafe { libc::sigemptyset(set.as_mut_ptr()) }, 0);
    // SAFETY: as above.
    let mut set = unsafe { set.assume_init() };
    for signal in signals {
        // SAFETY: it is a set of signals.
        assert_eq!(unsafe { libc::sigaddset(&raw mut set, signal.as_raw()) }, 0);
    }
    // SAFETY: this thread does not wait before they are let through again.
    let mask = |how| unsafe { libc::pthread_sigmask(how, &raw const set, std::ptr::null_mut()) };
    assert_eq!(mask(libc::SIG_BLOCK), 0);
    for signal in signals {
        // SAFETY: this process is one of a test.
        assert_eq!(unsafe { libc::raise(signal.as_raw()) }, 0);
    }
    assert_eq!(mask(libc::SIG_UNBLOCK), 0);
}

pub(super) fn action(signal: Signal) -> libc::sigaction {
    let mut action = MaybeUninit::uninit();
    // SAFETY: only asks.
    assert_eq!(unsafe { libc::sigaction(signal.as_raw(), std::ptr::null(), action.as_mut_ptr()) }, 0);
    // SAFETY: the kernel has written it.
    unsafe { action.assume_init() }
}

pub(super) fn handler(signal: Signal) -> Handler {
    action(signal).sa_sigaction
}

/// Installs one of the handlers below, or one of the system's own.
pub(super) fn install(signal: Signal, handler: Handler, flags: c_int) {
    // SAFETY: all zeros is a valid value of this C struct.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    NEXT.store(self::handler(signal), Ordering::SeqCst);
    // SAFETY: the handlers of this file do nothing but count.
    assert_eq!(unsafe { libc::sigaction(signal.as_raw(), &raw const action, std::ptr::null_mut()) }, 0);
}

/// Counts, and spoils `errno`.
pub(super) fn counts() -> Handler {
    extern "C" fn handle(_: c_int) {
        CALLS.fetch_add(1, Ordering::SeqCst);
        // SAFETY: every thread has one.
        let place = unsafe { libc::__errno_location() };
        // SAFETY: it is this thread's.
        unsafe { place.write(libc::EDOM) };
    }
    handle as *const () as Handler
}

/// Counts, and calls the handler that was there when it was installed last. To be installed with
/// `SA_SIGINFO`.
pub(super) fn passes_on() -> Handler {
    extern "C" fn handle(number: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        assert!(!info.is_null() && !context.is_null());
        CALLS.fetch_add(1, Ordering::SeqCst);
        let next = NEXT.load(Ordering::SeqCst);
        if next != libc::SIG_DFL && next != libc::SIG_IGN {
            type WithInfo = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
            // SAFETY: the tests have it called only where the one before is ours, which is of that
            // kind.
            let next: WithInfo = unsafe { std::mem::transmute(next) };
            next(number, info, context);
        }
    }
    handle as *const () as Handler
}
