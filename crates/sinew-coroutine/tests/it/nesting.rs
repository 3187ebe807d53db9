//! Coroutines that resume coroutines, and handles that are used from the wrong place.
//!
//! # Safety
//!
//! Moves a handle out of its body through a raw pointer, as a scoped thread-local could, and uses
//! it only while the coroutine that owns it exists.
#![expect(unsafe_code, reason = "safe code cannot move a handle out of its body")]

use std::cell::Cell;
use std::rc::Rc;

use sinew_coroutine::{CoroutineState, Suspender};

use crate::support::{Log, Tested, Witness, coroutine, leak_checked, panic_message};

/// Suspends through a handle that was moved out of its body.
pub(crate) fn suspend_through(handle: *const Suspender<(), ()>) {
    // SAFETY: the callers' coroutines are alive. The handle itself checks whether it may be used
    // now.
    unsafe { &*handle }.suspend(());
}

#[test]
fn a_coroutine_resumes_another_and_both_continue() {
    leak_checked(|| {
        let mut outer = coroutine(|suspender, ()| {
            let mut inner = coroutine(|suspender, ()| {
                for number in 0..10 {
                    suspender.suspend(number);
                }
            });
            while let CoroutineState::Yielded(number) = inner.resume(()) {
                suspender.suspend(number * number);
            }
        });
        for number in 0..10 {
            assert_eq!(outer.resume(()), CoroutineState::Yielded(number * number));
        }
        assert_eq!(outer.resume(()), CoroutineState::Complete(()));
    });
}

#[test]
fn a_hundred_levels_deep() {
    fn level(depth: u32) -> Tested<(), u32, u32> {
        coroutine(move |suspender, ()| {
            suspender.suspend(depth);
            if depth == 0 {
                return 0;
            }
            let mut next = level(depth - 1);
            loop {
                match next.resume(()) {
                    CoroutineState::Yielded(depth) => suspender.suspend(depth),
                    CoroutineState::Complete(sum) => return sum + depth,
                }
            }
        })
    }
    leak_checked(|| {
        let mut outermost = level(100);
        for depth in (0..=100).rev() {
            assert_eq!(outermost.resume(()), CoroutineState::Yielded(depth));
        }
        assert_eq!(outermost.resume(()), CoroutineState::Complete(5050));
    });
}

#[test]
fn a_handle_that_is_used_while_its_coroutine_does_not_run_panics() {
    leak_checked(|| {
        let smuggled = Rc::new(Cell::new(std::ptr::null()));
        let inside = smuggled.clone();
        let mut coroutine = coroutine(move |suspender: &Suspender<(), ()>, ()| {
            inside.set(suspender);
            suspender.suspend(());
        });
        coroutine.resume(());
        let message = panic_message(|| suspend_through(smuggled.get()));
        assert!(message.contains("is not running"), "{message}");
        assert_eq!(coroutine.resume(()), CoroutineState::Complete(()));
        drop::<Tested<(), (), ()>>(coroutine);
    });
}

/// Returns an outer coroutine that is suspended from the stack of an inner one.
fn suspended_from_within(log: &Log) -> Tested<(), (), ()> {
    let (outer_log, inner_log) = (log.clone(), log.clone());
    let mut outer = coroutine(move |suspender: &Suspender<(), ()>, ()| {
        let _witness = Witness('o', outer_log);
        let handle = std::ptr::from_ref(suspender);
        let mut inner: Tested<(), (), ()> = coroutine(move |_, ()| {
            let _witness = Witness('i', inner_log);
            suspend_through(handle);
        });
        inner.resume(());
    });
    assert_eq!(outer.resume(()), CoroutineState::Yielded(()));
    outer
}

#[test]
fn an_outer_coroutine_may_be_suspended_from_the_stack_of_an_inner_one() {
    leak_checked(|| {
        let log = Log::default();
        let mut outer = suspended_from_within(&log);
        assert_eq!(outer.resume(()), CoroutineState::Complete(()));
        assert_eq!(log.text(), "io");
    });
}

#[test]
fn dropping_an_outer_coroutine_suspended_from_an_inner_stack_unwinds_both() {
    leak_checked(|| {
        let log = Log::default();
        drop(suspended_from_within(&log));
        assert_eq!(log.text(), "io");
    });
}
