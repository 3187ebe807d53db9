//! Signals that arrive while a coroutine runs, on its stack or on an alternate one.
//!
//! # Safety
//!
//! Installs handlers that touch only atomics.
#![expect(unsafe_code, reason = "signal handlers are installed")]

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sinew_coroutine::{CoroutineState, Stack};

use crate::support::{Tested, coroutine, leak_checked};

static HANDLER_FRAME: AtomicUsize = AtomicUsize::new(0);
static COUNT: AtomicUsize = AtomicUsize::new(0);

extern "C" fn note_frame(_signal: libc::c_int) {
    let local = 0_u8;
    HANDLER_FRAME.store((&raw const local).addr(), Ordering::Relaxed);
}

extern "C" fn count(_signal: libc::c_int) {
    scribble();
    COUNT.fetch_add(1, Ordering::Relaxed);
}

/// Overwrites the part of the stack that a handler may use.
#[inline(never)]
fn scribble() {
    let mut scratch = [0_u8; 512];
    for byte in &mut scratch {
        *byte = std::hint::black_box(0xff);
    }
}

fn install(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) {
    install_action(signal, handler as *const () as usize, libc::SA_RESTART);
}

fn install_action(signal: libc::c_int, handler: usize, flags: libc::c_int) {
    // SAFETY: all zeros is a valid value of this C struct.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    // SAFETY: a handler that touches only atomics may run at any time.
    let installed = unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    assert_eq!(installed, 0);
}

/// Not for AddressSanitizer, which keeps locals elsewhere: this test takes the address of a local
/// for the stack's.
#[cfg(not(sinew_asan))]
#[test]
fn a_signal_handler_runs_on_the_coroutines_stack() {
    leak_checked(|| {
        install(libc::SIGUSR1, note_frame);
        let mut coroutine: Tested<(), (), ()> = coroutine(|suspender, ()| {
            // SAFETY: the handler is installed.
            unsafe { libc::raise(libc::SIGUSR1) };
            suspender.suspend(());
        });
        assert_eq!(coroutine.resume(()), CoroutineState::Yielded(()));
        let stack = coroutine.stack();
        let range = stack.limit().addr().get()..stack.top().addr().get();
        assert!(range.contains(&HANDLER_FRAME.load(Ordering::Relaxed)));
        assert_eq!(coroutine.resume(()), CoroutineState::Complete(()));
    });
}

/// Switches back and forth until `enough` returns true, and checks every value.
fn switch_until(enough: impl Fn() -> bool) {
    let mut counter = coroutine(|suspender, ()| {
        for number in 0_u64.. {
            suspender.suspend(number);
        }
    });
    for number in 0_u64.. {
        assert_eq!(counter.resume(()), CoroutineState::Yielded(number));
        if number % 1024 == 0 && enough() {
            return;
        }
    }
}

/// Damage would show as a crash. Ends early if signals are slow because other programs use the
/// CPUs.
#[test]
fn signals_at_any_moment_of_a_switch_do_no_harm() {
    const SIGNALS: usize = 1_000;
    install(libc::SIGUSR2, count);
    let done = AtomicBool::new(false);
    // SAFETY: no precondition.
    let target = unsafe { libc::pthread_self() };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // SAFETY: the thread waits for this one, so it is alive.
                unsafe { libc::pthread_kill(target, libc::SIGUSR2) };
            }
        });
        let end = Instant::now() + Duration::from_secs(5);
        leak_checked(|| {
            switch_until(|| {
                let count = COUNT.load(Ordering::Relaxed);
                count >= SIGNALS || count > 0 && Instant::now() > end
            });
        });
        done.store(true, Ordering::Relaxed);
    });
}

/// A signal after every single instruction, by the processor's trap flag.
#[cfg(all(target_arch = "x86_64", not(sinew_asan), not(sinew_tsan)))]
mod stepping {
    use std::arch::asm;
    use std::ffi::c_void;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::{coroutine, install_action, scribble};
    use crate::support::leak_checked;
    use sinew_coroutine::CoroutineState;

    const TRAP_FLAG: i64 = 0x100;
    /// For a coroutine that has not begun, or is about to suspend, the walk ends at its first
    /// frame. It finds this frame, that of the signal, and one more.
    static FEWEST_FRAMES: AtomicUsize = AtomicUsize::new(usize::MAX);
    static STEPS: AtomicUsize = AtomicUsize::new(0);
    static STOP: AtomicBool = AtomicBool::new(false);

    // Declared as in the unwinder's interface, which the C++ ABI for this platform defines.
    unsafe extern "C" {
        fn _Unwind_Backtrace(
            each: unsafe extern "C" fn(*mut c_void, *mut c_void) -> libc::c_int,
            argument: *mut c_void,
        ) -> libc::c_int;
    }

    unsafe extern "C" fn count_frame(_frame: *mut c_void, count: *mut c_void) -> libc::c_int {
        // SAFETY: `step` passes this argument.
        unsafe { *count.cast::<usize>() += 1 };
        0
    }

    extern "C" fn step(_signal: libc::c_int, _info: *mut libc::siginfo_t, context: *mut c_void) {
        scribble();
        let mut frames = 0_usize;
        // SAFETY: the interrupted thread is this one, and uses the unwinder for nothing else.
        unsafe { _Unwind_Backtrace(count_frame, (&raw mut frames).cast()) };
        FEWEST_FRAMES.fetch_min(frames, Ordering::Relaxed);
        STEPS.fetch_add(1, Ordering::Relaxed);
        if STOP.load(Ordering::Relaxed) {
            // SAFETY: the kernel passes the interrupted context to a handler with `SA_SIGINFO`.
            let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
            context.uc_mcontext.gregs[libc::REG_EFL as usize] &= !TRAP_FLAG;
        }
    }

    #[test]
    fn a_signal_that_unwinds_after_each_instruction_of_a_switch_does_no_harm() {
        install_action(libc::SIGTRAP, step as *const () as usize, libc::SA_SIGINFO | libc::SA_RESTART);
        leak_checked(|| {
            let mut echo = coroutine(|suspender, mut value: u64| {
                while value != 0 {
                    value = suspender.suspend([value; 3]);
                }
            });
            let mut sums = [0; 3];
            // SAFETY: sets the trap flag and nothing else; the handler is installed.
            unsafe { asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq") };
            for (round, sum) in (1..).zip(&mut sums) {
                if let CoroutineState::Yielded([one, two, three]) = echo.resume(round) {
                    *sum = one + two + three;
                }
            }
            let end = echo.resume(0);
            STOP.store(true, Ordering::Relaxed);
            assert_eq!((sums, end), ([3, 6, 9], CoroutineState::Complete(())));
        });
        let steps = STEPS.load(Ordering::Relaxed);
        assert!(steps > 100, "only {steps} instructions were stepped");
        let frames = FEWEST_FRAMES.load(Ordering::Relaxed);
        assert!(frames >= 3, "a walk from some instruction found only {frames} frames");
    }
}
