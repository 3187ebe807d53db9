//! Overflows that are reported with a label, and other faults, which are handled as without this
//! crate.
//!
//! # Safety
//!
//! Crashes processes of its own, on purpose.
#![expect(unsafe_code, reason = "crashes are caused, signals handled, threads started by hand")]

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use std::ptr;

use sinew_coroutine::{Coroutine, Label, MIN_STACK_SIZE, MmapStack, Stack, StackPool, overflow};

use crate::support::{assert_aborted, in_child, stderr};

#[inline(never)]
#[expect(unconditional_recursion, reason = "the overflow is intended")]
pub(crate) fn dive(depth: u64) -> u64 {
    black_box(dive(black_box(depth + 1)) + 1)
}

#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[inline(never)]
fn huge_frame(seed: u64) -> u64 {
    let frame = black_box([seed; 1 << 18]);
    frame[black_box(7)]
}

/// Runs `body` on a pooled stack of 64 KiB with a label.
fn on_labelled(body: fn(u64) -> u64) {
    let pool = StackPool::new();
    let mut stack = pool.acquire(64 * 1024).expect("a stack");
    stack.set_label(Some(Label::text(&"fiber 7, 'diver'")));
    Coroutine::<u64, (), u64, _>::new(stack, move |_, seed| body(seed)).resume(1);
}

/// Checks that a child died of an overflow that was reported.
pub(crate) fn assert_told(output: &Output, who: &str) {
    assert_aborted(output);
    let words = stderr(output);
    assert!(words.contains(&format!("sinew: stack overflow in {who}: its stack has")), "{words}");
}

/// Checks that a child reported this size of its stack, and a fault at most this many bytes below
/// it.
fn assert_told_bounds(output: &Output, size: usize, below: usize) {
    let words = stderr(output);
    let (_, rest) = words.split_once(&format!("its stack has {size} bytes, and byte ")).expect(&words);
    let touched = rest.split_once(' ').expect("more words").0.parse::<usize>().expect("a number");
    assert!((size + 1..=size + below).contains(&touched), "{words}");
}

/// Checks that a child died of a plain SIGSEGV.
pub(crate) fn assert_plain(output: &Output) {
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{output:?}");
    assert!(!stderr(output).contains("sinew"), "{}", stderr(output));
}

pub(crate) fn touch_null() {
    // SAFETY: none: the fault is intended.
    unsafe { black_box(ptr::without_provenance_mut::<u8>(8)).write_volatile(1) };
}

#[test]
fn deep_recursion_is_reported_with_label_and_size() {
    let output = in_child("overflow::deep_recursion_is_reported_with_label_and_size", || {
        overflow::install().expect("a handler");
        on_labelled(dive);
    });
    assert_told(&output, "fiber 7, 'diver'");
    // The first stack of any pool has this size, and the address that was touched lies in the guard
    // below it.
    let size = StackPool::new().acquire(64 * 1024).expect("a stack").size();
    assert_told_bounds(&output, size, 4096);
}

/// Not for sanitizers, which touch the far end of a huge frame first, beyond the guard.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn one_huge_frame_is_reported() {
    let output = in_child("overflow::one_huge_frame_is_reported", || {
        overflow::install().expect("a handler");
        on_labelled(huge_frame);
    });
    assert_told(&output, "fiber 7, 'diver'");
}

#[test]
fn an_overflow_of_a_plain_stack_is_reported() {
    let output = in_child("overflow::an_overflow_of_a_plain_stack_is_reported", || {
        overflow::install().expect("a handler");
        let stack = MmapStack::new(64 * 1024).expect("a stack");
        Coroutine::<u64, (), u64>::new(stack, |_, depth| dive(depth)).resume(1);
    });
    assert_told(&output, "a coroutine");
    assert_told_bounds(&output, 64 * 1024, 4096);
}

#[test]
fn a_null_pointer_is_a_plain_fault() {
    let output = in_child("overflow::a_null_pointer_is_a_plain_fault", || {
        overflow::install().expect("a handler");
        overflow::install().expect("a second call has no effect");
        touch_null();
    });
    assert_plain(&output);
}

#[test]
fn a_null_pointer_on_a_coroutine_is_a_plain_fault() {
    let output = in_child("overflow::a_null_pointer_on_a_coroutine_is_a_plain_fault", || {
        overflow::install().expect("a handler");
        on_labelled(|number| {
            touch_null();
            number
        });
    });
    assert_plain(&output);
}

#[test]
fn a_stray_access_to_a_guard_is_a_plain_fault() {
    let output = in_child("overflow::a_stray_access_to_a_guard_is_a_plain_fault", || {
        overflow::install().expect("a handler");
        let stack = StackPool::new().acquire(64 * 1024).expect("a stack");
        let guard = stack.limit().as_ptr().wrapping_sub(8);
        // SAFETY: none: the fault is intended.
        unsafe { guard.write_volatile(1) };
    });
    assert_plain(&output);
}

/// Stacks are handed out from low to high addresses: above the first lies the guard of the second.
#[test]
fn a_stray_access_from_below_a_guard_is_a_plain_fault() {
    let output = in_child("overflow::a_stray_access_from_below_a_guard_is_a_plain_fault", || {
        overflow::install().expect("a handler");
        let pool = StackPool::new();
        let (lower, upper) = (pool.acquire(64 * 1024).expect("a stack"), pool.acquire(64 * 1024));
        let guard = upper.expect("a stack").limit().as_ptr().wrapping_sub(8);
        assert!(guard.addr() - lower.top().addr().get() < 2 * 4096, "they are neighbours");
        // SAFETY: none: the fault is intended.
        let stray = move |_: &_, ()| unsafe { guard.write_volatile(1) };
        Coroutine::<(), (), (), _>::new(lower, stray).resume(());
    });
    assert_plain(&output);
}

#[test]
fn an_overflow_of_a_thread_is_reported_by_std() {
    let output = in_child("overflow::an_overflow_of_a_thread_is_reported_by_std", || {
        overflow::install().expect("a handler");
        let thread =
            std::thread::Builder::new().name("swimmer".into()).stack_size(64 * 1024).spawn(|| dive(1));
        let _ = thread.expect("a thread").join();
    });
    assert_aborted(&output);
    let words = stderr(&output);
    assert!(words.contains("swimmer") && words.contains("has overflowed its stack"), "{words}");
    assert!(!words.contains("sinew: stack"), "{words}");
}

extern "C" fn plain_handler(_signal: libc::c_int) {
    let words = b"the other handler\n";
    // SAFETY: may be called in a signal handler.
    unsafe { libc::write(2, words.as_ptr().cast(), words.len()) };
    // SAFETY: as above.
    unsafe { libc::_exit(9) };
}

fn install_plain_handler() {
    // SAFETY: all zeros is a valid value of this C struct.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = plain_handler as *const () as usize;
    // SAFETY: the handler does only what a signal handler may do.
    assert_eq!(unsafe { libc::sigaction(libc::SIGSEGV, &raw const action, ptr::null_mut()) }, 0);
}

#[test]
fn the_previous_handler_gets_other_faults() {
    let output = in_child("overflow::the_previous_handler_gets_other_faults", || {
        install_plain_handler();
        overflow::install().expect("a handler");
        touch_null();
    });
    assert_eq!(output.status.code(), Some(9), "{output:?}");
    assert!(stderr(&output).contains("the other handler"), "{output:?}");
}

#[test]
fn a_handler_that_is_installed_later_stays() {
    let output = in_child("overflow::a_handler_that_is_installed_later_stays", || {
        overflow::install().expect("a handler");
        install_plain_handler();
        overflow::install().expect("it was done before");
        touch_null();
    });
    assert_eq!(output.status.code(), Some(9), "{output:?}");
}

extern "C" fn dive_protected(_: *mut libc::c_void) -> *mut libc::c_void {
    let _protection = overflow::protect_thread().expect("an alternate stack");
    on_labelled(dive);
    ptr::null_mut()
}

#[test]
fn a_thread_that_std_did_not_start_is_protected_on_request() {
    let output = in_child("overflow::a_thread_that_std_did_not_start_is_protected_on_request", || {
        overflow::install().expect("a handler");
        let mut thread = 0;
        // SAFETY: starts a thread with a function that takes no argument.
        let made =
            unsafe { libc::pthread_create(&raw mut thread, ptr::null(), dive_protected, ptr::null_mut()) };
        assert_eq!(made, 0);
        // SAFETY: the thread was created above.
        unsafe { libc::pthread_join(thread, ptr::null_mut()) };
    });
    assert_told(&output, "fiber 7, 'diver'");
}

#[cfg(not(any(sinew_asan, sinew_tsan)))]
extern "C" fn do_nothing(_signal: libc::c_int) {}

/// Calls itself until almost nothing of a stack is left, and then sends a signal to its own thread.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[inline(never)]
fn be_interrupted_near(limit: usize) {
    let here = 0_u8;
    if black_box(&raw const here).addr() - limit > 700 {
        be_interrupted_near(limit);
    } else {
        // SAFETY: no precondition.
        let thread = unsafe { libc::gettid() };
        // SAFETY: sends a signal to this thread. Not through `raise`, which needs more stack.
        unsafe { libc::syscall(libc::SYS_tgkill, std::process::id(), thread, libc::SIGUSR1) };
    }
    black_box(here);
}

/// The kernel puts a frame on the stack for a handler. Not for sanitizers, which postpone a signal
/// until its frame fits.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn a_signal_without_room_for_its_frame_is_reported() {
    let output = in_child("overflow::a_signal_without_room_for_its_frame_is_reported", || {
        // SAFETY: the handler does nothing.
        unsafe { libc::signal(libc::SIGUSR1, do_nothing as *const () as usize) };
        overflow::install().expect("a handler");
        let mut stack = StackPool::new().acquire(64 * 1024).expect("a stack");
        stack.set_label(Some(Label::text(&"fiber 7, 'diver'")));
        let limit = stack.limit().addr().get();
        Coroutine::<(), (), (), _>::new(stack, move |_, ()| be_interrupted_near(limit)).resume(());
    });
    assert_told(&output, "fiber 7, 'diver'");
}

/// The same on a stack that is not ours: the signal must not be lost.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn a_signal_without_room_on_another_stack_kills() {
    let output = in_child("overflow::a_signal_without_room_on_another_stack_kills", || {
        // SAFETY: the handler does nothing.
        unsafe { libc::signal(libc::SIGUSR1, do_nothing as *const () as usize) };
        // SAFETY: the default action runs no code of this process.
        unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
        overflow::install().expect("a handler");
        let stack = Unknown::new();
        let limit = stack.limit().addr().get();
        Coroutine::<(), (), (), _>::new(stack, move |_, ()| be_interrupted_near(limit)).resume(());
        eprintln!("survived");
    });
    assert_plain(&output);
    assert!(!stderr(&output).contains("survived"), "{output:?}");
}

/// A stack that is in no registry.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
struct Unknown(ptr::NonNull<u8>);

#[cfg(not(any(sinew_asan, sinew_tsan)))]
impl Unknown {
    const SIZE: usize = 128 * 1024;
    const GUARD: usize = 64 * 1024;

    fn new() -> Self {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping.
        let memory = unsafe { libc::mmap(ptr::null_mut(), Self::SIZE, access, flags, -1, 0) };
        // SAFETY: this is the low end of the mapping.
        assert_eq!(unsafe { libc::mprotect(memory, Self::GUARD, libc::PROT_NONE) }, 0);
        Self(ptr::NonNull::new(memory.cast()).expect("an address"))
    }
}

// SAFETY: the mapping stays forever, with a guard at its low end.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
unsafe impl Stack for Unknown {
    fn top(&self) -> ptr::NonNull<u8> {
        // SAFETY: this is one past the end of the mapping.
        unsafe { self.0.add(Self::SIZE) }
    }

    fn limit(&self) -> ptr::NonNull<u8> {
        // SAFETY: the result lies within the mapping.
        unsafe { self.0.add(Self::GUARD) }
    }
}

/// Uses as much of the stack as a describer may.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
unsafe fn describe_at_length(_data: *const (), out: &mut dyn std::fmt::Write) -> std::fmt::Result {
    let text = black_box([b'x'; 900]);
    out.write_str(str::from_utf8(&text[..7]).unwrap_or_default())
}

/// Not for sanitizers, which make frames larger and wrap the handler in one of their own.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn a_small_alternate_stack_is_enough_for_the_message() {
    let output = in_child("overflow::a_small_alternate_stack_is_enough_for_the_message", || {
        overflow::install().expect("a handler");
        // SAFETY: no precondition.
        let frame = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) };
        let size = usize::try_from(frame).expect("small").max(libc::MINSIGSTKSZ) + 4096;
        let memory = std::mem::ManuallyDrop::new(MmapStack::new(size.max(MIN_STACK_SIZE)).expect("a guard"));
        let stack = libc::stack_t { ss_sp: memory.limit().as_ptr().cast(), ss_flags: 0, ss_size: size };
        // SAFETY: the memory stays forever.
        assert_eq!(unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) }, 0);
        let mut stack = StackPool::new().acquire(64 * 1024).expect("a stack");
        // SAFETY: the describer reads nothing.
        stack.set_label(Some(unsafe { Label::new(ptr::null(), describe_at_length) }));
        Coroutine::<u64, (), u64, _>::new(stack, |_, depth| dive(depth)).resume(1);
    });
    assert_told(&output, "xxxxxxx");
}

#[test]
fn the_protection_of_a_thread_ends_when_dropped() {
    let alternate = || {
        let mut stack = MaybeUninit::<libc::stack_t>::uninit();
        // SAFETY: reads the alternate stack, and changes nothing.
        assert_eq!(unsafe { libc::sigaltstack(ptr::null(), stack.as_mut_ptr()) }, 0);
        // SAFETY: the kernel has written it.
        unsafe { stack.assume_init() }
    };
    let none = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
    let before = alternate();
    // SAFETY: removes this thread's alternate stack.
    assert_eq!(unsafe { libc::sigaltstack(&raw const none, ptr::null_mut()) }, 0);
    let protection = overflow::protect_thread().expect("an alternate stack");
    assert_eq!(alternate().ss_flags & libc::SS_DISABLE, 0);
    let nested = overflow::protect_thread().expect("there is one already");
    drop(nested);
    assert_eq!(alternate().ss_flags & libc::SS_DISABLE, 0);
    drop(protection);
    assert_eq!(alternate().ss_flags & libc::SS_DISABLE, libc::SS_DISABLE);
    // SAFETY: restores this thread's alternate stack.
    assert_eq!(unsafe { libc::sigaltstack(&raw const before, ptr::null_mut()) }, 0);
}
