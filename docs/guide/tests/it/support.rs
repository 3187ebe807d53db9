//! What shows whether a call lets other fibers of its worker run. Knows no crate of the table.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once};
use std::thread;
use std::time::Duration;

use sinew::{Runtime, fiber};

/// A runtime where all fibers are neighbours.
pub(crate) fn one_worker() -> Runtime {
    Runtime::builder().workers(1).stall_report(None).start().expect("a runtime starts")
}

/// Shows that no other fiber of the worker runs during a call, which returns only after `release`.
pub(crate) fn blocks<R: Send + 'static>(
    call: impl FnOnce() -> R + Send + 'static,
    release: impl FnOnce() + Send + 'static,
) {
    assert!(!neighbour_runs_during(call, release), "the worker has run another fiber");
}

/// Whether another fiber of the worker runs during a call.
pub(crate) fn neighbour_runs_during<R: Send + 'static>(
    call: impl FnOnce() -> R + Send + 'static,
    release: impl FnOnce() + Send + 'static,
) -> bool {
    let [has_begun, is_inside] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let seen = has_begun.clone();
    let releaser = thread::spawn(move || {
        while !seen.load(Ordering::Acquire) {
            thread::yield_now();
        }
        // A call that lets others run would have done so by then. One that does not never will.
        thread::sleep(Duration::from_millis(5));
        release();
    });
    let has_run = one_worker().run(move || {
        let seen = is_inside.clone();
        // It runs when this fiber lets it.
        let neighbour = fiber::spawn(move || seen.load(Ordering::Relaxed));
        is_inside.store(true, Ordering::Relaxed);
        has_begun.store(true, Ordering::Release);
        call();
        is_inside.store(false, Ordering::Relaxed);
        neighbour.join().unwrap()
    });
    releaser.join().unwrap();
    has_run
}

/// Calls what panics in a fiber, and keeps the hook from printing that.
pub(crate) fn quietly<R>(call: impl FnOnce() -> R) -> R {
    static MUTED: Once = Once::new();
    MUTED.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !sinew::fiber::is_fiber() {
                usual(info);
            }
        }));
    });
    call()
}

#[test]
fn a_call_that_suspends_is_not_taken_for_one_that_blocks() {
    assert!(neighbour_runs_during(|| fiber::sleep(Duration::from_millis(1)), || ()));
}
