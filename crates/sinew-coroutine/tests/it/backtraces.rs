//! Backtraces taken on a coroutine: its own frames, then the resumer's, then the end.

use std::backtrace::Backtrace;

use sinew_coroutine::CoroutineState;

use crate::support::{Tested, coroutine};

#[inline(never)]
fn frame_inside() -> String {
    std::hint::black_box(Backtrace::force_capture().to_string())
}

#[inline(never)]
fn frame_that_resumes(coroutine: &mut Tested<(), String, String>) -> String {
    match std::hint::black_box(coroutine.resume(())) {
        CoroutineState::Yielded(text) | CoroutineState::Complete(text) => text,
    }
}

#[inline(never)]
fn frame_that_resumes_later(coroutine: &mut Tested<(), String, String>) -> String {
    std::hint::black_box(frame_that_resumes(coroutine))
}

/// Returns the positions of these names in a backtrace. Each must occur exactly once.
fn places(backtrace: &str, names: &[&str]) -> Vec<usize> {
    let place = |name: &&str| {
        let found: Vec<_> = backtrace.match_indices(&format!("::{name}\n")).map(|(place, _)| place).collect();
        assert_eq!(found.len(), 1, "{name} in\n{backtrace}");
        found[0]
    };
    names.iter().map(place).collect()
}

#[test]
fn a_backtrace_continues_into_the_resumer() {
    let mut coroutine = coroutine(|suspender, ()| {
        suspender.suspend(frame_inside());
        frame_inside()
    });
    let first = frame_that_resumes(&mut coroutine);
    assert!(places(&first, &["frame_inside", "frame_that_resumes"]).is_sorted(), "{first}");
    let second = frame_that_resumes_later(&mut coroutine);
    let names = ["frame_inside", "frame_that_resumes", "frame_that_resumes_later"];
    assert!(places(&second, &names).is_sorted(), "{second}");
    assert!(second.contains("thread_start"), "it continues to the start of the thread:\n{second}");
}

#[test]
fn a_backtrace_crosses_nested_coroutines() {
    let mut outer: Tested<(), String, String> = coroutine(|_, ()| {
        let mut inner = coroutine(|_, ()| frame_inside());
        frame_that_resumes(&mut inner)
    });
    let text = frame_that_resumes_later(&mut outer);
    assert_eq!(text.matches("frame_that_resumes\n").count(), 2, "{text}");
    assert!(places(&text, &["frame_inside", "frame_that_resumes_later"]).is_sorted(), "{text}");
}

#[test]
fn the_registers_of_a_suspended_coroutine_point_into_its_stack() {
    use sinew_coroutine::Stack;
    let mut coroutine: Tested<(), (), ()> = coroutine(|suspender, ()| suspender.suspend(()));
    coroutine.resume(());
    let registers = coroutine.registers().expect("it is suspended");
    let range = coroutine.stack().limit().addr().get()..coroutine.stack().top().addr().get();
    assert!(range.contains(&registers.sp), "{registers:x?} {range:x?}");
    assert_ne!(registers.ip, 0);
    coroutine.resume(());
    assert_eq!(coroutine.registers(), None);
}
