//! What ends the process, and with which words.

use std::panic;

use sinew_coroutine::Suspender;

use crate::support::{Tested, assert_aborted, coroutine, in_child, stderr};

struct Panics;

impl Drop for Panics {
    fn drop(&mut self) {
        panic!("in a destructor");
    }
}

#[test]
fn a_destructor_that_panics_while_its_coroutine_is_dropped_aborts() {
    let output = in_child("crashes::a_destructor_that_panics_while_its_coroutine_is_dropped_aborts", || {
        let mut coroutine: Tested<(), (), ()> = coroutine(|suspender, ()| {
            let _panics = Panics;
            suspender.suspend(());
        });
        coroutine.resume(());
        drop(coroutine);
    });
    assert_aborted(&output);
    let words = stderr(&output);
    assert!(words.contains("in a destructor"), "{words}");
    assert!(words.contains("panic in a destructor during cleanup"), "{words}");
}

struct Suspends(*const Suspender<(), ()>);

impl Drop for Suspends {
    fn drop(&mut self) {
        crate::nesting::suspend_through(self.0);
    }
}

#[test]
fn a_destructor_that_suspends_while_its_coroutine_is_dropped_aborts() {
    let output =
        in_child("crashes::a_destructor_that_suspends_while_its_coroutine_is_dropped_aborts", || {
            let mut coroutine: Tested<(), (), ()> = coroutine(|suspender: &Suspender<(), ()>, ()| {
                let _suspends = Suspends(suspender);
                suspender.suspend(());
            });
            coroutine.resume(());
            drop(coroutine);
        });
    assert_aborted(&output);
    let words = stderr(&output);
    assert!(words.contains("a destructor suspended its coroutine while that was being dropped"), "{words}");
}

#[test]
fn a_panic_hook_may_run_on_a_coroutine() {
    let output = in_child("crashes::a_panic_hook_may_run_on_a_coroutine", || {
        panic::set_hook(Box::new(|info| {
            eprintln!("hook: {info}\n{}", std::backtrace::Backtrace::force_capture());
        }));
        let mut coroutine: Tested<(), (), ()> = coroutine(|_, ()| panic!("with a backtrace"));
        coroutine.resume(());
    });
    assert_eq!(output.status.code(), Some(101), "{output:?}");
    let words = stderr(&output);
    assert!(words.contains("hook:") && words.contains("with a backtrace"), "{words}");
}
