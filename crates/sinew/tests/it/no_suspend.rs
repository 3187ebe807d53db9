//! What must not suspend does not, and what it refused leaves nothing behind.

use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sinew::coroutine::{Coroutine, MmapStack};
use sinew::fiber::{self, Builder, Launch};

use super::support::{WORKERS, in_child, message, pinned, stderr};
use crate::runtimes::each;

/// The wait panics.
fn refused<T>(wait: impl FnOnce() -> T) {
    let panic = catch_unwind(AssertUnwindSafe(|| fiber::no_suspend(wait))).map(drop).unwrap_err();
    assert!(message(&*panic).contains("no_suspend"));
}

/// Fibers in the memory of those that have just ended sleep for as long as they want to.
fn others_sleep_well() {
    let sleep = || {
        let began = Instant::now();
        fiber::sleep(Duration::from_millis(60));
        began.elapsed()
    };
    let others: Vec<_> = (0..20).map(|_| fiber::spawn(sleep)).collect();
    for other in others {
        let slept = other.join().unwrap();
        assert!(slept >= Duration::from_millis(60), "woken after {slept:?}");
    }
}

#[test]
fn a_sleep_that_was_refused_wakes_nobody() {
    each(|runtime, _| {
        runtime.run(|| {
            for _ in 0..20 {
                fiber::spawn(|| refused(|| fiber::sleep(Duration::from_millis(20)))).join().unwrap();
            }
            others_sleep_well();
        });
    });
}

#[test]
fn a_join_that_was_refused_wakes_nobody() {
    each(|runtime, _| {
        runtime.run(|| {
            for _ in 0..20 {
                let joins = || {
                    let child = Builder::new().launch(Launch::Dispatch);
                    let child = child.spawn(|| fiber::sleep(Duration::from_millis(20))).unwrap();
                    refused(|| child.join());
                };
                fiber::spawn(joins).join().unwrap();
            }
            others_sleep_well();
        });
    });
}

#[test]
fn no_other_fiber_is_entered() {
    pinned(1).run(|| {
        let has_run = Arc::new(AtomicUsize::new(0));
        let count = || {
            let has_run = has_run.clone();
            move || has_run.fetch_add(1, Ordering::Relaxed)
        };
        let joined = fiber::spawn(count());
        let dispatched = fiber::no_suspend(|| {
            refused(|| joined.join());
            let dispatched = Builder::new().launch(Launch::Dispatch).spawn(count()).unwrap();
            assert_eq!(has_run.load(Ordering::Relaxed), 0, "another fiber ran here");
            dispatched
        });
        dispatched.join().unwrap();
        while has_run.load(Ordering::Relaxed) < 2 {
            fiber::yield_now();
        }
    });
}

#[test]
fn a_scope_is_refused_before_it_has_fibers() {
    each(|runtime, _| {
        runtime.run(|| {
            let mut has_begun = false;
            refused(|| fiber::scope(|_| has_begun = true));
            assert!(!has_begun);
        });
    });
}

#[test]
fn a_scope_that_cannot_wait_for_its_fibers_aborts() {
    let output = in_child("no_suspend::a_scope_that_cannot_wait_for_its_fibers_aborts", || {
        let caught = pinned(1).run(|| {
            // Suspended inside `no_suspend`: the fiber must not suspend until it is gone.
            let mut left = None;
            let caught = catch_unwind(AssertUnwindSafe(|| {
                let borrowed = String::from("here");
                fiber::scope(|scope| {
                    scope.spawn(|| assert_eq!(borrowed, "here"));
                    let stack = MmapStack::new(1 << 16).unwrap();
                    let inside = Coroutine::<(), (), ()>::new(stack, |suspender, ()| {
                        fiber::no_suspend(|| suspender.suspend(()));
                    });
                    left.insert(inside).resume(()).yielded().unwrap();
                });
            }));
            drop(left);
            caught.is_err()
        });
        println!("caught: {caught}");
    });
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{output:?}");
    assert!(stderr(&output).contains("no_suspend"), "{output:?}");
}

struct OnDrop(fn());

impl Drop for OnDrop {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[test]
fn a_wait_of_a_fiber_that_unwinds_keeps_its_worker() {
    for workers in WORKERS {
        pinned(workers).run(|| {
            let unwinds = fiber::spawn(|| {
                // Longer than a worker is kept otherwise.
                let _wait = OnDrop(|| fiber::no_suspend(|| fiber::sleep(Duration::from_millis(25))));
                panic!("on its way out");
            });
            assert_eq!(message(&*unwinds.join().unwrap_err()), "on its way out");
        });
    }
}
