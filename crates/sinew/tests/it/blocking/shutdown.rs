//! Calls and the end of their runtime.

use super::super::runtimes::{KINDS, Kind, builder};
use super::super::support::{watch_test, watch_test_with};
use super::{Held, threads_named};
use sinew::{Runtime, blocking, fiber};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

#[test]
fn a_shutdown_waits_for_calls() {
    let _watch = watch_test();
    for kind in KINDS {
        let runtime = builder(2, kind).blocking_threads(2).start().unwrap();
        let made = Arc::new(AtomicUsize::new(0));
        for _ in 0..100 {
            let made = made.clone();
            drop(runtime.spawn(move || blocking(|| made.fetch_add(1, Ordering::Relaxed))));
        }
        assert!(runtime.shutdown(None).drained);
        assert_eq!(made.load(Ordering::Relaxed), 100);
    }
}

fn wait_for_no_thread(name: &str) {
    while threads_named(name) != 0 {
        thread::yield_now();
    }
}

/// The threads may be idle for ever here. They would be left if the shutdown did not wake them.
#[test]
fn no_thread_is_left() {
    for kind in KINDS {
        let _watchdog = watch_test_with(format!("threads of a runtime that is over: {kind:?}"));
        let start = || {
            let builder = builder(2, kind).name("gone").blocking_idle(Duration::MAX);
            let runtime = builder.start().unwrap();
            let calls = (0..50).map(|_| || blocking(thread::yield_now));
            runtime.spawn_batch(calls).into_iter().for_each(|fiber| fiber.join().unwrap());
            assert!(threads_named("gone-block-") > 0);
            runtime
        };
        assert!(start().shutdown(None).drained);
        wait_for_no_thread("gone");
        drop(start());
        wait_for_no_thread("gone");
        // The runtime is dropped by one of its own fibers, which continues to make calls.
        let (send, receive) = mpsc::channel::<Runtime>();
        let runtime = start();
        let fiber = runtime.spawn(move || {
            drop(receive.recv().unwrap());
            (0..10).map(|number| blocking(move || number)).sum::<i32>()
        });
        send.send(runtime).unwrap();
        assert_eq!(fiber.join().unwrap(), 45);
        wait_for_no_thread("gone");
    }
}

#[test]
fn calls_go_on_in_a_runtime_that_was_dropped() {
    for kind in KINDS {
        let _watchdog = watch_test_with(format!("calls without a runtime: {kind:?}"));
        let runtime = builder(2, kind).name("orphan").blocking_threads(2).start().unwrap();
        let fibers: Vec<_> = (0..100).map(|number| runtime.spawn(move || blocking(|| number))).collect();
        drop(runtime);
        for (number, fiber) in fibers.into_iter().enumerate() {
            assert_eq!(fiber.join().unwrap(), number);
        }
        wait_for_no_thread("orphan");
    }
}

/// What a call borrows is there after its fiber was abandoned, and its thread ends with it. One
/// that was not begun never is.
#[test]
fn a_call_outlives_its_runtime() {
    for (kind, workers) in [(Kind::Pinned, 1), (Kind::Migrating, 1), (Kind::Pinned, 2), (Kind::Migrating, 2)]
    {
        let _watchdog = watch_test_with(format!("{workers} workers, {kind:?}"));
        let runtime = builder(workers, kind).blocking_threads(1).name("heir").start().unwrap();
        let ((held, call), (tell, told)) = (Held::new(), mpsc::channel());
        let first = runtime.spawn(|| {
            let mut text = String::from("on the stack of a fiber");
            blocking(|| {
                call();
                text.push_str(" that never goes on");
                tell.send(text.len()).unwrap();
                // It is dropped with the stack, which is never.
                drop(tell);
            });
        });
        held.wait_until_begun();
        let begun = Arc::new(AtomicUsize::new(0));
        let begins = begun.clone();
        let second = runtime.spawn(move || blocking(|| begins.fetch_add(1, Ordering::Relaxed)));
        while runtime.stats().blocking_queued == 0 {
            thread::yield_now();
        }
        let report = runtime.shutdown(Some(Duration::from_millis(5)));
        assert!(!report.drained && report.leaked.len() == 2, "{report:?}");
        assert!(first.join().unwrap_err().is::<fiber::Abandoned>());
        assert!(second.join().unwrap_err().is::<fiber::Abandoned>());
        assert_eq!(threads_named("heir-block-"), 1);
        held.release();
        assert_eq!(told.recv(), Ok(42));
        wait_for_no_thread("heir-block-");
        assert_eq!(begun.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn a_fiber_that_is_late_makes_its_call_itself() {
    for kind in KINDS {
        let _watchdog = watch_test_with(format!("a late call: {kind:?}"));
        let runtime = builder(1, kind).start().unwrap();
        let (held, hold) = Held::new();
        let late = runtime.spawn(|| {
            // Blocks its worker until the shutdown no longer waits for this fiber.
            hold();
            blocking(|| thread::current().id()) == thread::current().id()
        });
        held.wait_until_begun();
        assert!(!runtime.shutdown(Some(Duration::from_millis(5))).drained);
        held.release();
        assert!(late.join().unwrap());
    }
}
