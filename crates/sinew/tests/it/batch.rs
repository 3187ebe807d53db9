//! Many fibers at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sinew::Runtime;
use sinew::fiber::{self, State};

use crate::runtimes::{Kind, each, finish};
use crate::support::{strategies, watch_test_with};

#[test]
fn all_run_and_handles_are_in_order() {
    each(|runtime, _| {
        for count in [0, 1, 2, 31, 32, 5000] {
            let numbers = |fibers: Vec<fiber::JoinHandle<usize>>| {
                fibers.into_iter().map(|fiber| fiber.join().unwrap()).collect::<Vec<_>>()
            };
            let bodies = move || (0..count).map(|number| move || number);
            let expected: Vec<_> = (0..count).collect();
            assert_eq!(numbers(runtime.spawn_batch(bodies())), expected, "from outside");
            assert_eq!(runtime.run(move || numbers(fiber::spawn_batch(bodies()))), expected, "from inside");
        }
    });
}

#[test]
fn a_batch_reaches_workers_that_sleep() {
    // Only the sleeping workers can run the batch: the fiber that spawns it keeps its worker until
    // all have run.
    crate::runtimes::each_of(&[2, 8], |runtime, _| {
        for _ in 0..20 {
            runtime.run(|| {
                let ran = Arc::new(AtomicUsize::new(0));
                let bodies = (0..40).map(|_| {
                    let ran = ran.clone();
                    move || ran.fetch_add(1, Ordering::Relaxed)
                });
                drop(fiber::spawn_batch(bodies));
                while ran.load(Ordering::Relaxed) < 40 {
                    std::hint::spin_loop();
                }
            });
        }
    });
}

#[test]
fn the_iterator_may_wait_and_make_fibers() {
    each(|runtime, _| {
        let sum = runtime.run(|| {
            let fibers = fiber::spawn_batch((0..50).map(|number: u64| {
                let other = fiber::spawn(fiber::yield_now);
                fiber::yield_now();
                other.join().unwrap();
                move || number
            }));
            fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum::<u64>()
        });
        assert_eq!(sum, 1225);
    });
}

/// The worker that it began on is kept busy, so that the iterator ends on another one.
#[test]
fn the_iterator_may_move() {
    crate::runtimes::each_of(&[2], |runtime, kind| {
        if kind == Kind::Pinned {
            return;
        }
        let worker = runtime.run(|| {
            let fibers = fiber::spawn_batch((0..40).map(|number| {
                if number == 0 {
                    move_away();
                }
                || ()
            }));
            let worker = fiber::current().worker().unwrap();
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
            worker
        });
        assert_eq!(runtime.stats().workers[worker].spawned, 40, "made where the iterator was by then");
    });
}

fn move_away() {
    let home = fiber::current().worker();
    let has_moved = Arc::new(AtomicBool::new(false));
    let flag = has_moved.clone();
    drop(fiber::spawn_local(move || {
        while !flag.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    }));
    while fiber::current().worker() == home {
        fiber::yield_now();
    }
    has_moved.store(true, Ordering::Relaxed);
}

/// Counts how often it runs, and how often it is dropped.
fn counted(counts: &Arc<(AtomicUsize, AtomicUsize)>) -> impl FnOnce() + Send + use<> {
    struct Dropped(Arc<(AtomicUsize, AtomicUsize)>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.1.fetch_add(1, Ordering::Relaxed);
        }
    }
    let dropped = Dropped(counts.clone());
    move || {
        dropped.0.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn counts(counts: &(AtomicUsize, AtomicUsize)) -> (usize, usize) {
    (counts.0.load(Ordering::Relaxed), counts.1.load(Ordering::Relaxed))
}

#[test]
fn at_the_limit_none_runs() {
    for workers in [1, 2, 8] {
        let _watchdog = watch_test_with(format!("{workers} workers"));
        let runtime = Runtime::builder().workers(workers).max_fibers(11).start().unwrap();
        let all = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let copy = all.clone();
        runtime.run(move || {
            // The caller is one of the eleven.
            let error = fiber::try_spawn_batch((0..20).map(|_| counted(&copy))).unwrap_err();
            assert!(error.is_limit());
            assert_eq!(counts(&copy), (0, 10), "the one that was refused is in the error");
            drop(error);
            assert_eq!(counts(&copy), (0, 11));
            let fibers = fiber::spawn_batch((0..10).map(|_| counted(&copy)));
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        });
        assert_eq!(counts(&all), (10, 21));
        finish(runtime);
    }
}

/// After a join, the joined fiber no longer counts: the caller can spawn another one.
#[test]
fn a_joined_fiber_counts_no_more() {
    for workers in [1, 2, 8] {
        let _watchdog = watch_test_with(format!("{workers} workers"));
        let runtime = Runtime::builder().workers(workers).max_fibers(1).start().unwrap();
        for _ in 0..2000 {
            runtime.spawn(|| ()).join().unwrap();
        }
        finish(runtime);
    }
}

#[test]
fn if_the_iterator_panics_none_runs() {
    each(|runtime, _| {
        let all = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let bodies = (0..20).map(|number| {
            assert_ne!(number, 15, "the iterator");
            counted(&all)
        });
        assert!(catch_unwind(AssertUnwindSafe(|| runtime.spawn_batch(bodies))).is_err());
        assert_eq!(counts(&all), (0, 15));
        assert_eq!(runtime.stats().live, 0);
    });
}

#[test]
fn none_runs_before_the_iterator_ends() {
    each(|runtime, _| {
        runtime.run(|| {
            let (all, made) = (Arc::new((AtomicUsize::new(0), AtomicUsize::new(0))), AtomicUsize::new(0));
            let fibers = fiber::spawn_batch((0..20).map(|_| {
                // Lets every fiber run that could.
                if made.fetch_add(1, Ordering::Relaxed) % 10 == 9 {
                    fiber::sleep(Duration::from_millis(1));
                }
                assert_eq!(counts(&all).0, 0);
                counted(&all)
            }));
            assert_eq!(made.load(Ordering::Relaxed), 20);
            for fiber in fibers {
                let reference = fiber.thread().clone();
                fiber.join().unwrap();
                assert_eq!(reference.state(), State::Done);
            }
        });
    });
}

#[test]
fn they_begin_in_the_order_of_the_iterator() {
    for strategy in strategies() {
        let runtime = Runtime::builder().workers(1).strategy(strategy).start().unwrap();
        let _watchdog = watch_test_with(strategy.to_string());
        let begun = Arc::new(Mutex::new(Vec::new()));
        let copy = begun.clone();
        runtime.run(move || {
            let body = |number| {
                let begun = copy.clone();
                move || begun.lock().unwrap().push(number)
            };
            for fiber in fiber::spawn_batch((0..100).map(body)) {
                fiber.join().unwrap();
            }
        });
        // Every so often another one has its turn, lest any place waits for ever.
        let order = std::mem::take(&mut *begun.lock().unwrap());
        let inversions = order.windows(2).filter(|pair: &&[u32]| pair[0] > pair[1]).count();
        assert!(order.len() == 100 && inversions <= 4, "{strategy}: {order:?}");
        finish(runtime);
    }
}
