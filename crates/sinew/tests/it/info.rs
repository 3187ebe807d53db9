//! What can be seen of fibers from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use sinew::Runtime;
use sinew::fiber::{self, State};

use crate::runtimes::{Kind, each, finish, start};
use crate::support::watch_test_with;

#[test]
fn a_fiber_goes_through_its_states() {
    let _watchdog = watch_test_with("states");
    let runtime = start(1, Kind::Pinned);
    let (go, is_over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (flag, over) = (go.clone(), is_over.clone());
    let fiber = runtime.run(move || {
        let me = fiber::current();
        assert_eq!((me.state(), me.worker()), (State::Running, Some(0)));
        let fiber = fiber::spawn(move || {
            fiber::park();
            while !flag.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            fiber::park();
            over.store(true, Ordering::Relaxed);
        });
        let other = fiber.thread();
        // The only worker is ours until we let go.
        assert_eq!((other.state(), other.worker()), (State::New, None));
        while other.state() != State::Parked {
            fiber::yield_now();
        }
        assert_eq!(other.worker(), Some(0));
        other.unpark();
        assert_eq!(other.state(), State::Ready);
        fiber
    });
    let other = fiber.thread().clone();
    while other.state() != State::Running {
        thread::yield_now();
    }
    go.store(true, Ordering::Relaxed);
    while other.state() != State::Parked {
        thread::yield_now();
    }
    assert!(!is_over.load(Ordering::Relaxed));
    other.unpark();
    fiber.join().unwrap();
    assert_eq!((other.state(), other.worker()), (State::Done, Some(0)));
    finish(runtime);
}

#[test]
fn stack_sizes_are_those_that_were_set() {
    let _watchdog = watch_test_with("sizes");
    let runtime = Runtime::builder().workers(1).stack_size(200_000).start().unwrap();
    let sizes = runtime.run(|| {
        let other = fiber::Builder::new().stack_size(1 << 20).spawn(|| ()).unwrap();
        [fiber::current().stack_size(), other.thread().stack_size()]
    });
    assert_eq!(sizes, [Some(200_000), Some(1 << 20)]);
    finish(runtime);
}

#[test]
fn a_thread_runs_and_has_no_worker() {
    let thread = fiber::current();
    assert_eq!((thread.state(), thread.worker(), thread.stack_size()), (State::Running, None, None));
}

#[test]
fn fibers_are_counted() {
    each(|runtime, _| {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        let busy = runtime.spawn(move || {
            while !flag.load(Ordering::Relaxed) {
                fiber::yield_now();
            }
        });
        let parked = runtime.spawn_batch((0..30).map(|_| fiber::park));
        let nested = runtime.spawn(|| fiber::spawn_batch((0..10).map(|_| fiber::park)));
        let nested = nested.join().unwrap();
        while runtime.stats().parked != 40 || runtime.stats().started != 42 {
            thread::yield_now();
        }
        let stats = runtime.stats();
        let all = (stats.live, stats.spawned, stats.started, stats.finished, stats.parked);
        assert_eq!(all, (41, 42, 42, 1, 40));
        assert_eq!(stats.workers.len(), runtime.workers());
        assert_eq!(stats.workers.iter().map(|worker| worker.started).sum::<u64>(), 42);
        assert_eq!(
            stats.workers.iter().map(|worker| worker.spawned).sum::<u64>(),
            10,
            "32 came from outside"
        );
        assert!(stats.workers.iter().map(|worker| worker.waits).sum::<u64>() >= 40);
        // From outside, and from inside.
        parked.into_iter().for_each(wake_and_join);
        runtime.run(|| nested.into_iter().for_each(wake_and_join));
        let stats = runtime.stats();
        let all = (stats.live, stats.spawned, stats.started, stats.finished, stats.parked);
        assert_eq!(all, (1, 43, 43, 42, 0));
        stop.store(true, Ordering::Relaxed);
        busy.join().unwrap();
        assert_eq!((runtime.stats().live, runtime.stats().finished), (0, 43));
    });
}

fn wake_and_join(fiber: fiber::JoinHandle<()>) {
    assert_eq!(fiber.thread().state(), State::Parked);
    fiber.thread().unpark();
    fiber.join().unwrap();
}

#[test]
fn counts_by_worker_are_the_workers_own() {
    let _watchdog = watch_test_with("workers");
    let runtime = start(8, Kind::Pinned);
    let workers = runtime.spawn_batch((0..200).map(|_| || fiber::current().worker()));
    let mut started = vec![0; 8];
    for fiber in workers {
        started[fiber.join().unwrap().unwrap()] += 1;
    }
    let counted: Vec<_> = runtime.stats().workers.iter().map(|worker| worker.started).collect();
    assert_eq!(counted, started);
    finish(runtime);
}

#[test]
fn workers_that_are_woken_are_counted() {
    let _watchdog = watch_test_with("wakes");
    let runtime = start(2, Kind::Pinned);
    // A worker that has not gone to sleep yet need not be woken.
    while runtime.stats().worker_wakes == 0 {
        runtime.run(|| ());
        thread::yield_now();
    }
    finish(runtime);
}
