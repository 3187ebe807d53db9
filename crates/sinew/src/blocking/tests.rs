//! Tests that need a system in which no thread can be started.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::context::{Context, Key};
use crate::rt::refuse_threads;
use crate::{Runtime, blocking, fiber, time};

fn runtime(workers: usize, threads: usize) -> Runtime {
    let builder = Runtime::builder().workers(workers).blocking_threads(threads);
    builder.blocking_idle(Duration::ZERO).start().unwrap()
}

/// Without threads, the workers run all calls.
#[test]
fn calls_are_made_in_place_without_threads() {
    for (workers, threads) in [(1, 1), (2, 1), (2, 512)] {
        let runtime = runtime(workers, threads);
        let is_worker = runtime.run(|| {
            refuse_threads(true);
            let here = thread::current().id();
            let there = blocking(|| thread::current().id());
            let cancellable = blocking::blocking_cancellable(|| thread::current().id()).unwrap();
            let panic = catch_unwind(|| blocking(|| resume_unwind(Box::new("in place")))).unwrap_err();
            assert_eq!(panic.downcast_ref(), Some(&"in place"));
            here == there && here == cancellable
        });
        assert!(is_worker);
        let made = Arc::new(AtomicUsize::new(0));
        let call = |made: Arc<AtomicUsize>| move || blocking(|| made.fetch_add(1, Ordering::Relaxed));
        let fibers = runtime.spawn_batch((0..200).map(|_| call(made.clone())));
        let results: Vec<_> = fibers.into_iter().map(|fiber| fiber.join().unwrap()).collect();
        assert_eq!((results.len(), made.load(Ordering::Relaxed)), (200, 200));
        assert_eq!((runtime.stats().blocking_threads, runtime.stats().blocking_queued), (0, 0));
        assert!(runtime.shutdown(None).drained);
    }
}

/// The caller's deadline and cancellation do not apply inside a call, but its context does, also if
/// the call runs in place.
#[test]
fn a_call_in_place_is_not_stopped_with_its_caller() {
    static NUMBER: Key<u32> = Key::new();
    let runtime = runtime(1, 1);
    runtime.run(|| {
        refuse_threads(true);
        let seen = || blocking(|| (fiber::checkpoint().is_ok(), NUMBER.get().as_deref().copied()));
        let late = || time::timeout(Duration::ZERO, seen);
        assert_eq!(late(), (true, None));
        assert_eq!(Context::new().with(&NUMBER, 1).run(late), (true, Some(1)));
        let cancelled = fiber::spawn(move || {
            while fiber::checkpoint().is_ok() {
                fiber::yield_now();
            }
            (seen(), Context::new().with(&NUMBER, 1).run(seen))
        });
        cancelled.cancel();
        assert_eq!(cancelled.join().unwrap(), ((true, None), (true, Some(1))));
    });
    assert!(runtime.shutdown(None).drained);
}

/// Threads come and go while many calls are made: none is lost.
#[test]
fn no_call_is_lost_while_threads_are_refused_now_and_then() {
    for (workers, threads) in [(1, 1), (2, 1), (2, 3)] {
        let runtime = runtime(workers, threads);
        let over = Arc::new(AtomicBool::new(false));
        let is_over = over.clone();
        let changes = runtime.spawn(move || {
            let mut refuse = false;
            while !is_over.load(Ordering::Relaxed) {
                refuse = !refuse;
                refuse_threads(refuse);
                fiber::sleep(Duration::from_micros(20));
            }
        });
        let call = |number: usize| {
            move || (0..50).filter(|round| blocking(move || number + round) == number + round).count()
        };
        let fibers = runtime.spawn_batch((0..50).map(call));
        let right: usize = fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum();
        assert_eq!(right, 2_500);
        over.store(true, Ordering::Relaxed);
        changes.join().unwrap();
        assert!(runtime.shutdown(None).drained);
    }
}

/// With one thread that is busy, a call waits for it, though no other thread is to be had.
#[test]
fn a_thread_that_is_there_does_what_is_queued() {
    let runtime = runtime(1, 512);
    let (release, until_released) = mpsc::channel::<()>();
    let (begins, has_begun) = mpsc::channel();
    let order = Arc::new(Mutex::new(Vec::new()));
    let log = order.clone();
    let first = runtime.spawn(move || {
        blocking(move || {
            begins.send(()).unwrap();
            until_released.recv().unwrap();
            log.lock().unwrap().push(thread::current().id());
        });
    });
    has_begun.recv().unwrap();
    let log = order.clone();
    let second = runtime.spawn(move || {
        refuse_threads(true);
        let result = catch_unwind(AssertUnwindSafe(|| {
            blocking(|| {
                log.lock().unwrap().push(thread::current().id());
                resume_unwind(Box::new("on purpose"));
            })
        }));
        assert!(result.is_err());
    });
    while runtime.stats().blocking_queued == 0 {
        thread::yield_now();
    }
    release.send(()).unwrap();
    first.join().unwrap();
    second.join().unwrap();
    let order = order.lock().unwrap();
    assert_eq!(order[0], order[1]);
    assert!(runtime.shutdown(None).drained);
}
