//! Errors that end the process, and their messages.

use std::cell::RefCell;
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
    assert!(words.contains("a coroutine suspended while it was being dropped"), "{words}");
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

thread_local! {
    static KEPT: RefCell<Option<Tested<u32, (), ()>>> = const { RefCell::new(None) };
}

/// `process::exit` runs the destructors of this thread's thread-locals, borrowed or not.
fn exit_while_running(resumes: u32) {
    let body = move |suspender: &Suspender<u32, ()>, first| {
        let mut number = first;
        while number < resumes {
            number = suspender.suspend(());
        }
        std::process::exit(7)
    };
    KEPT.with(|kept| *kept.borrow_mut() = Some(coroutine(body)));
    for number in 1..=resumes {
        KEPT.with(|kept| kept.borrow_mut().as_mut().expect("kept").resume(number));
    }
}

#[test]
fn a_running_coroutine_that_is_dropped_by_an_exit_is_leaked() {
    let name = "crashes::a_running_coroutine_that_is_dropped_by_an_exit_is_leaked";
    let output = in_child(name, || exit_while_running(3));
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert!(stderr(&output).contains("dropped while it ran"), "{output:?}");
}

#[test]
fn a_coroutine_that_is_dropped_by_an_exit_on_its_first_run_is_leaked() {
    let name = "crashes::a_coroutine_that_is_dropped_by_an_exit_on_its_first_run_is_leaked";
    let output = in_child(name, || exit_while_running(1));
    assert_eq!(output.status.code(), Some(7), "{output:?}");
}

#[test]
fn a_report_survives_a_closed_standard_error() {
    let output = in_child("crashes::a_report_survives_a_closed_standard_error", || {
        let mut coroutine: Tested<(), (), ()> = coroutine(|suspender, ()| {
            let _ = panic::catch_unwind(panic::AssertUnwindSafe(|| suspender.suspend(())));
            suspender.suspend(());
        });
        coroutine.resume(());
        let full = std::fs::File::options().write(true).open("/dev/full").expect("a full device");
        crate::support::replace_stderr(&full);
        drop(coroutine);
    });
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}
