//! Stacks of every kind: plain, misaligned, tiny; and the effect of their guard.
//!
//! # Safety
//!
//! Makes stacks from parts of sound stacks, and reads and writes the edges of stacks that it owns.
#![expect(unsafe_code, reason = "stacks are raw memory")]

use std::io::ErrorKind;
use std::ptr::NonNull;

use sinew_coroutine::{Coroutine, CoroutineState, MIN_STACK_SIZE, MmapStack, Stack};

use crate::support::is_emulated;

/// The part of a stack that begins at its limit and ends `cut` bytes below its top.
struct Cut(MmapStack, usize);

// SAFETY: a part of a sound stack, with the same guard.
unsafe impl Stack for Cut {
    fn top(&self) -> NonNull<u8> {
        // SAFETY: the tests cut off less than the stack has.
        unsafe { self.0.top().sub(self.1) }
    }

    fn limit(&self) -> NonNull<u8> {
        self.0.limit()
    }
}

const SIZE: usize = 64 * 1024;

fn stack() -> MmapStack {
    MmapStack::new(SIZE).expect("a stack")
}

#[test]
fn a_misaligned_top_is_rounded_down() {
    for cut in 0..32 {
        let mut echo = Coroutine::<u128, u128, (), _>::new(Cut(stack(), cut), |suspender, mut value| {
            // A vector instruction with an aligned operand would fault on a misaligned stack.
            let aligned = std::hint::black_box(u128::MAX);
            assert!((&raw const aligned).is_aligned());
            while value != 0 {
                value = suspender.suspend(value);
            }
        });
        assert_eq!(echo.resume(5), CoroutineState::Yielded(5));
        assert_eq!(echo.resume(0), CoroutineState::Complete(()));
    }
}

#[test]
fn a_tiny_stack_is_refused_and_comes_back_with_the_body() {
    for usable in [0, 1, 100, MIN_STACK_SIZE / 2, MIN_STACK_SIZE - 1024] {
        let tiny = Cut(stack(), SIZE - usable);
        let text = String::from("captured");
        let refused = Coroutine::<(), (), _, _>::try_new(tiny, move |_, ()| text.len());
        let error = refused.expect_err("too small");
        assert!(error.to_string().contains(&format!("a stack of {usable} bytes is too small")), "{error}");
        let mut coroutine = Coroutine::<(), (), _, _>::new(error.stack.0, error.body);
        assert_eq!(coroutine.resume(()), CoroutineState::Complete(8));
    }
    let message = crate::support::panic_message(|| {
        Coroutine::<(), (), (), _>::new(Cut(stack(), SIZE - 16), |_, ()| {})
    });
    assert!(message.contains("too small"), "{message}");
}

#[test]
fn the_smallest_stack_holds_a_coroutine() {
    let small = MmapStack::new(MIN_STACK_SIZE).expect("a stack");
    let mut echo = Coroutine::<u8, u8, u8>::new(small, |suspender, byte| suspender.suspend(byte));
    assert_eq!(echo.resume(1), CoroutineState::Yielded(1));
    assert_eq!(echo.resume(2), CoroutineState::Complete(2));
}

/// Runs a coroutine whose closure and values have `BYTES` bytes each, and drops another that has
/// not started.
fn run_with<const BYTES: usize>() -> bool {
    let captured = [1_u8; BYTES];
    let body = move |_: &_, sent: [u8; BYTES]| {
        std::hint::black_box(&captured);
        sent
    };
    let Ok(mut coroutine) = Coroutine::<[u8; BYTES], (), _>::try_new(stack(), body) else {
        return false;
    };
    assert_eq!(coroutine.resume([2; BYTES]), CoroutineState::Complete([2; BYTES]));
    let captured = [1_u8; BYTES];
    drop(Coroutine::<(), (), _>::try_new(stack(), move |_, ()| captured).ok());
    true
}

#[test]
fn an_accepted_stack_has_room_for_its_values() {
    let output = crate::support::in_child("stacks::an_accepted_stack_has_room_for_its_values", || {
        let accepted = [
            run_with::<400>(),
            run_with::<1_000>(),
            run_with::<1_500>(),
            run_with::<2_000>(),
            run_with::<3_000>(),
            run_with::<4_000>(),
            run_with::<6_000>(),
            run_with::<8_000>(),
            run_with::<12_000>(),
            run_with::<16_000>(),
            run_with::<32_000>(),
            run_with::<64_000>(),
        ];
        assert!(accepted.is_sorted_by(|one, next| one >= next), "{accepted:?}");
        assert!(accepted[0] && !accepted[11], "{accepted:?}");
    });
    assert!(output.status.success(), "{output:?}");
}

/// Returns the size that a refusal asks for, if a stack of `usable` bytes is refused.
fn needed<const CAPTURED: usize>(usable: usize) -> Option<usize> {
    let captured = [1_u8; CAPTURED];
    let refused =
        Coroutine::<u64, u64, u64, _>::try_new(Cut(stack(), SIZE - usable), move |_, number: u64| {
            number + captured.len() as u64
        });
    let words = refused.err()?.to_string();
    let (_, rest) = words.split_once("this coroutine needs ").expect(&words);
    Some(rest.split_once(' ').expect(&words).0.parse().expect(&words))
}

/// Checks that a stack of the size that a refusal asks for is accepted, and that a stack which is
/// smaller by more than the alignment is not.
fn assert_advice_is_exact<const CAPTURED: usize>() {
    const ALIGN: usize = 16;
    let advised = needed::<CAPTURED>(0).expect("a stack of no bytes is refused");
    for usable in advised..advised + 2 * ALIGN {
        assert_eq!(needed::<CAPTURED>(usable), None, "{CAPTURED}: {usable}");
    }
    for usable in advised - 3 * ALIGN..advised - ALIGN {
        assert_eq!(needed::<CAPTURED>(usable), Some(advised), "{CAPTURED}: {usable}");
    }
}

#[test]
fn a_refusal_asks_for_a_stack_that_is_enough_and_no_more() {
    assert_advice_is_exact::<0>();
    assert_advice_is_exact::<100>();
    assert_advice_is_exact::<1_001>();
}

#[test]
fn a_closure_larger_than_the_stack_is_refused() {
    let large = [1_u8; SIZE];
    let refused = Coroutine::<(), (), _, _>::try_new(stack(), move |_, ()| large.len());
    let error = refused.expect_err("the closure does not fit");
    assert!(error.to_string().contains("its closure of 65536 bytes"), "{error}");
}

#[test]
fn an_overaligned_closure_is_aligned() {
    #[repr(align(1024))]
    struct Aligned(u8);
    let aligned = Aligned(9);
    let mut coroutine = Coroutine::<(), (), _, _>::new(stack(), move |_, ()| {
        let aligned = std::hint::black_box(&aligned);
        assert_eq!(std::ptr::from_ref(aligned).addr() % 1024, 0);
        aligned.0
    });
    assert_eq!(coroutine.resume(()), CoroutineState::Complete(9));
}

#[test]
fn every_byte_of_a_stack_is_usable() {
    let stack = MmapStack::new(SIZE + 1).expect("a stack");
    let length = stack.top().addr().get() - stack.limit().addr().get();
    assert!(length > SIZE);
    // SAFETY: the first byte is the stack's, and nothing runs on it.
    unsafe { stack.limit().write(1) };
    // SAFETY: one byte below the top is inside the stack.
    let last = unsafe { stack.top().sub(1) };
    // SAFETY: so is the last byte.
    unsafe { last.write(1) };
}

#[test]
fn absurd_sizes_are_errors() {
    for (size, words) in [
        (0, "too small"),
        (1, "too small"),
        (MIN_STACK_SIZE - 1, "too small"),
        (usize::MAX, "does not fit any address space"),
        (usize::MAX / 2, "does not fit any address space"),
    ] {
        let error = MmapStack::new(size).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{size}");
        assert!(error.to_string().contains(words), "{error}");
    }
    let error = MmapStack::new(1 << 60).expect_err("more than any machine has");
    assert_eq!(error.kind(), ErrorKind::OutOfMemory);
}

#[test]
fn the_guard_faults() {
    use std::os::unix::process::ExitStatusExt;
    let output = crate::support::in_child("stacks::the_guard_faults", || {
        let stack = stack();
        let guard = stack.limit().as_ptr().wrapping_sub(1);
        // SAFETY: none: the access is meant to fault, and does so before it can do harm.
        unsafe { guard.write_volatile(1) };
    });
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{output:?}");
}

#[test]
fn an_overflow_hits_the_guard() {
    use std::os::unix::process::ExitStatusExt;
    #[expect(unconditional_recursion, reason = "the overflow is intended")]
    fn dive(depth: u64) -> u64 {
        std::hint::black_box(dive(std::hint::black_box(depth + 1)) + 1)
    }
    let output = crate::support::in_child("stacks::an_overflow_hits_the_guard", || {
        let below = stack();
        let mut diver = Coroutine::<u64, (), u64, _>::new(stack(), |_, depth| dive(depth));
        diver.resume(0);
        drop(below);
    });
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{output:?}");
}

/// A stack that uses one page must not get a huge page, even where the system hands them out by
/// default.
#[test]
fn a_plain_stack_gets_no_huge_pages() {
    if is_emulated() {
        return eprintln!("skipped: the emulator takes no advice about huge pages");
    }
    let maps = std::fs::read_to_string("/proc/self/smaps").expect("the mappings");
    if !maps.contains("VmFlags") || !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
        return eprintln!("skipped: this system has no huge pages, or does not show them");
    }
    let stack = MmapStack::new(8 << 20).expect("a stack");
    let start = format!("{:x}-", stack.limit().addr());
    let maps = std::fs::read_to_string("/proc/self/smaps").expect("the mappings");
    let (_, mapping) = maps.split_once(&start).expect("a mapping begins above the guard");
    let flags = mapping.lines().find(|line| line.starts_with("VmFlags")).expect("flags");
    assert!(flags.split_whitespace().any(|flag| flag == "nh"), "{flags}");
}
