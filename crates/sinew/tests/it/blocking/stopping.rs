//! Calls and those who are to stop.

use super::super::support::{everywhere, migrating, pinned};
use super::Held;
use sinew::blocking::blocking_cancellable;
use sinew::{Runtime, blocking, fiber};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Counts how often it was dropped.
struct Counts(Arc<AtomicUsize>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_call_is_not_interrupted() {
    everywhere(|| {
        let (held, call) = Held::new();
        let fiber = fiber::spawn(|| {
            blocking(call);
            fiber::is_cancelled()
        });
        blocking(move || {
            held.wait_until_begun();
            fiber.cancel();
            assert!(!fiber.is_finished());
            held.release();
            assert!(fiber.join().unwrap());
        });
    });
}

#[test]
fn a_call_that_has_begun_is_left_and_its_result_dropped() {
    everywhere(|| {
        let (held, call) = Held::new();
        let drops = Arc::new(AtomicUsize::new(0));
        let result = Counts(drops.clone());
        let fiber = fiber::spawn(move || {
            let call = move || {
                call();
                result
            };
            blocking_cancellable(call).map(drop)
        });
        blocking(move || {
            held.wait_until_begun();
            fiber.cancel();
            assert!(fiber.join().unwrap().unwrap_err().is_cancelled());
            assert_eq!(drops.load(Ordering::Relaxed), 0);
            held.release();
            while drops.load(Ordering::Relaxed) == 0 {
                thread::yield_now();
            }
        });
    });
}

#[test]
fn a_call_that_was_not_begun_never_is() {
    let runtime = Runtime::builder().workers(1).blocking_threads(1).start().unwrap();
    let (held, call) = Held::new();
    let first = runtime.spawn(|| blocking(call));
    held.wait_until_begun();
    let drops = Arc::new(AtomicUsize::new(0));
    let held_by_call = Counts(drops.clone());
    let second = runtime.spawn(|| {
        let call = move || {
            let _held = held_by_call;
            unreachable!("nobody wants it")
        };
        blocking_cancellable(call).map(|(): ()| ())
    });
    while runtime.stats().blocking_queued == 0 {
        thread::yield_now();
    }
    second.cancel();
    assert!(second.join().unwrap().unwrap_err().is_cancelled());
    assert_eq!(drops.load(Ordering::Relaxed), 1, "dropped by the one who gave up");
    held.release();
    first.join().unwrap();
    assert_eq!(runtime.run(|| blocking(|| 4)), 4);
    assert!(runtime.shutdown(None).drained);
}

#[test]
fn a_deadline_ends_the_wait() {
    everywhere(|| {
        let (held, call) = Held::new();
        let soon = Instant::now() + Duration::from_millis(2);
        let stopped = fiber::with_deadline(soon, || blocking_cancellable(call)).unwrap_err();
        assert!(stopped.is_timed_out() && stopped.at().file().ends_with("stopping.rs"));
        blocking(|| {
            // It may not have begun.
            if held.begun.recv().is_ok() {
                held.release();
            }
        });
    });
}

#[test]
fn who_is_to_stop_makes_no_call() {
    fn check() {
        let past = Instant::now();
        let call = || unreachable!("it is too late");
        let stopped = fiber::with_deadline(past, || blocking_cancellable(call).map(|(): ()| ()));
        assert!(stopped.unwrap_err().is_timed_out());
        let shielded = || fiber::shield(|| blocking_cancellable(|| 7));
        assert_eq!(fiber::with_deadline(past, shielded).unwrap(), 7);
    }
    everywhere(check);
    check();
}

/// Whatever comes first, the call or the cancel, one of the two is told.
#[test]
fn cancels_race_with_calls() {
    for mut runtime in [pinned(1), migrating(2)] {
        let drops = Arc::new(AtomicUsize::new(0));
        for _ in 0..500 {
            let result = Counts(drops.clone());
            let fiber = runtime.spawn(move || blocking_cancellable(move || result).is_ok());
            fiber.cancel();
            fiber.join().unwrap();
        }
        assert!(runtime.take().shutdown(None).drained);
        while drops.load(Ordering::Relaxed) < 500 {
            thread::yield_now();
        }
    }
}
