//! How many threads there are, and which one makes a call.

use super::super::runtimes::{KINDS, Kind, builder, start};
use super::super::support::{Watched, watch_test};
use super::{Held, threads_named};
use sinew::{Runtime, RuntimeBuilder, blocking, fiber};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

fn watched(builder: RuntimeBuilder) -> Watched {
    Watched::new(builder.start().unwrap())
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        thread::yield_now();
    }
}

/// Ten thousand calls at once, by four threads.
#[test]
fn there_are_no_more_threads_than_may_be() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    for builder in [builder(1, Kind::Pinned), builder(2, Kind::Pinned), builder(2, Kind::Migrating)] {
        let runtime = watched(builder.blocking_threads(4).name("few"));
        let body = |(now, most): (Arc<AtomicUsize>, Arc<AtomicUsize>)| {
            move || {
                blocking(|| {
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::yield_now();
                    now.fetch_sub(1, Ordering::SeqCst);
                });
            }
        };
        let fibers = runtime.spawn_batch((0..10_000).map(|_| body((now.clone(), most.clone()))));
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        assert!(runtime.stats().blocking_threads <= 4 && threads_named("few-block-") <= 4);
        assert_eq!((runtime.stats().blocking_queued, now.load(Ordering::SeqCst)), (0, 0));
    }
    assert!((1..=4).contains(&most.load(Ordering::SeqCst)), "{most:?}");
}

#[test]
fn calls_beyond_the_limit_are_made_in_order() {
    let runtime = watched(Runtime::builder().workers(2).blocking_threads(1));
    let (held, call) = Held::new();
    let first = runtime.spawn(|| blocking(call));
    held.wait_until_begun();
    let order = Arc::new(Mutex::new(Vec::new()));
    let later: Vec<_> = (0..50)
        .map(|number| {
            let order = order.clone();
            let later = runtime.spawn(move || blocking(|| order.lock().unwrap().push(number)));
            wait_until(|| runtime.stats().blocking_queued == number + 1);
            later
        })
        .collect();
    held.release();
    first.join().unwrap();
    later.into_iter().for_each(|fiber| fiber.join().unwrap());
    assert_eq!(*order.lock().unwrap(), Vec::from_iter(0..50));
}

/// The thread is idle before its caller continues.
#[test]
fn one_call_after_the_other_needs_one_thread() {
    for kind in KINDS {
        for workers in [1, 2] {
            let runtime = Watched::new(start(workers, kind));
            runtime.run(|| {
                let ids: Vec<_> = (0..500).map(|_| blocking(|| thread::current().id())).collect();
                assert!(ids.iter().all(|id| *id == ids[0]));
            });
            assert_eq!(runtime.stats().blocking_threads, 1);
        }
    }
}

/// Makes `many` calls at once, so that each needs a thread. Returns the threads, in the order in
/// which they became idle.
fn use_many(runtime: &Runtime, many: usize) -> Vec<thread::ThreadId> {
    let all = Arc::new(Barrier::new(many));
    let held: Vec<_> = (0..many)
        .map(|_| {
            let ((held, call), all) = (Held::new(), all.clone());
            let body = move || {
                blocking(|| {
                    all.wait();
                    call();
                    thread::current().id()
                })
            };
            (held, runtime.spawn(body))
        })
        .collect();
    let ends = |(held, fiber): (Held, fiber::JoinHandle<_>)| {
        held.wait_until_begun();
        held.release();
        fiber.join().unwrap()
    };
    held.into_iter().map(ends).collect()
}

#[test]
fn as_many_threads_as_calls_and_the_last_one_first() {
    let runtime = watched(Runtime::builder().workers(1));
    let mut ids = use_many(&runtime, 6);
    assert_eq!(runtime.stats().blocking_threads, 6);
    for _ in 0..10 {
        assert_eq!(runtime.run(|| blocking(|| thread::current().id())), ids[5]);
    }
    // Two at once are the last two.
    let mut two = use_many(&runtime, 2);
    two.sort_by_key(|id| format!("{id:?}"));
    ids[4..].sort_by_key(|id| format!("{id:?}"));
    assert_eq!(two, ids[4..]);
    assert_eq!(runtime.stats().blocking_threads, 6);
}

#[test]
fn threads_that_have_nothing_to_do_go() {
    for idle in [Duration::ZERO, Duration::from_millis(1)] {
        let runtime = watched(Runtime::builder().workers(2).blocking_idle(idle).name("leaver"));
        for _ in 0..3 {
            use_many(&runtime, 8);
            wait_until(|| runtime.stats().blocking_threads == 0 && threads_named("leaver-block-") == 0);
        }
    }
}

/// One that is called again and again stays, and the others go.
#[test]
fn surplus_threads_go_while_calls_are_made() {
    let runtime = watched(Runtime::builder().workers(1).blocking_idle(Duration::from_millis(300)));
    use_many(&runtime, 4);
    wait_until(|| runtime.run(|| blocking(|| true)) && runtime.stats().blocking_threads == 1);
}

#[test]
fn threads_have_the_name_of_their_runtime() {
    let runtime = watched(Runtime::builder().workers(1).name("loom"));
    let name = runtime.run(|| blocking(|| thread::current().name().map(str::to_owned)));
    assert_eq!(name.as_deref(), Some("loom-block-1"));
}

/// A fiber of one runtime asks the threads of its own, and of no other.
#[test]
fn each_runtime_has_its_own() {
    let _watch = watch_test();
    let [one, two] = ["one", "two"].map(|name| Runtime::builder().workers(1).name(name).start().unwrap());
    let name = || blocking(|| thread::current().name().map(str::to_owned));
    assert_eq!(one.run(name).as_deref(), Some("one-block-1"));
    assert_eq!(two.run(name).as_deref(), Some("two-block-1"));
    assert_eq!((one.stats().blocking_threads, two.stats().blocking_threads), (1, 1));
}
