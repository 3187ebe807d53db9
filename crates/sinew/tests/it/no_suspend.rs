//! What must not suspend does not, and what it refused leaves nothing behind.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sinew::coroutine::{Coroutine, MmapStack};
use sinew::fiber::{self, Builder, Launch};
use sinew::{Runtime, channel};

use super::support::{WORKERS, Watched, in_child, message, pinned, quiet_panic, refused, stderr};
use crate::runtimes::each;

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

/// Opens a scope with a fiber, and calls `leave` before it ends.
fn scope_that_ends_after<T>(leave: impl FnOnce() -> T) -> T {
    let borrowed = String::from("here");
    let left = fiber::scope(|scope| {
        scope.spawn(|| {
            fiber::yield_now();
            assert_eq!(borrowed, "here");
        });
        leave()
    });
    drop(borrowed);
    left
}

type Inner = Coroutine<(), (), ()>;

/// A coroutine that was suspended inside `no_suspend`: the fiber must not suspend until it is gone.
fn suspended_inside() -> Inner {
    let stack = MmapStack::new(1 << 16).unwrap();
    let mut inside = Inner::new(stack, |suspender, ()| fiber::no_suspend(|| suspender.suspend(())));
    inside.resume(()).yielded().unwrap();
    inside
}

/// Its fibers run on other workers meanwhile.
#[test]
fn a_scope_that_ends_where_it_must_not_suspend_keeps_its_worker() {
    crate::runtimes::each_of(&[2, 8], |runtime, _| {
        runtime.run(|| {
            drop(scope_that_ends_after(suspended_inside));
            // It began where it could have suspended, and ends where it cannot.
            let stack = MmapStack::new(1 << 16).unwrap();
            let mut scopes =
                Inner::new(stack, |suspender, ()| scope_that_ends_after(|| suspender.suspend(())));
            scopes.resume(()).yielded().unwrap();
            fiber::no_suspend(|| scopes.resume(()).complete().unwrap());
        });
    });
}

thread_local! {
    /// What the function at a switch resumes.
    static SCOPE: RefCell<Option<Inner>> = const { RefCell::new(None) };
}

#[test]
fn a_scope_that_ends_at_a_switch_keeps_its_worker() {
    for strategy in super::support::strategies() {
        let builder = Runtime::builder().workers(2).strategy(strategy).on_suspend(|| {
            if let Some(mut scope) = SCOPE.take() {
                scope.resume(()).complete().unwrap();
            }
        });
        let runtime = Watched::new(builder.start().unwrap());
        runtime.run(|| {
            let stack = MmapStack::new(1 << 16).unwrap();
            let mut scope =
                Inner::new(stack, |suspender, ()| scope_that_ends_after(|| suspender.suspend(())));
            scope.resume(()).yielded().unwrap();
            SCOPE.set(Some(scope));
            fiber::yield_now();
            assert!(SCOPE.take().is_none(), "the function was called");
        });
    }
}

/// No other worker can run the fibers of the scope, so the program waits for itself. That is
/// reported.
#[test]
fn a_scope_that_waits_for_its_own_worker_is_told_of() {
    let name = "no_suspend::a_scope_that_waits_for_its_own_worker_is_told_of";
    if super::support::is_child() {
        let runtime = Runtime::builder().workers(1).stall_report(Some(Duration::from_millis(50)));
        runtime.start().unwrap().run(|| drop(scope_that_ends_after(suspended_inside)));
    }
    super::support::is_told_of_as_stuck(name);
}

/// A function that is called at a switch must not suspend. That does not affect the fiber which is
/// switched.
#[test]
fn what_is_forbidden_at_a_switch_is_not_forbidden_to_the_fiber() {
    let waits: [fn(); 3] = [
        || {
            let pair = Arc::new((sinew::sync::Mutex::new(false), sinew::sync::Condvar::new()));
            let other = pair.clone();
            let notifies = fiber::spawn(move || {
                let mut is_set = other.0.lock().unwrap();
                *is_set = true;
                other.1.notify_one();
                // Keeps the mutex, so that the waiter waits for it as well.
                fiber::sleep(Duration::from_millis(1));
            });
            drop(pair.1.wait_while(pair.0.lock().unwrap(), |is_set| !*is_set).unwrap());
            notifies.join().unwrap();
        },
        || {
            let (sender, receiver) = channel::bounded::<u32>(0);
            let sends = fiber::spawn(move || {
                let mut select = channel::Select::new();
                select.send(&sender);
                let operation = select.select();
                fiber::sleep(Duration::from_millis(1));
                operation.send(&sender, 7).unwrap();
            });
            assert_eq!(receiver.recv(), Ok(7));
            sends.join().unwrap();
        },
        || {
            let mutex = Arc::new(sinew::sync::Mutex::new(()));
            let fibers: Vec<_> = (0..4)
                .map(|_| {
                    let mutex = mutex.clone();
                    fiber::spawn(move || {
                        for _ in 0..10 {
                            let _guard = mutex.lock().unwrap();
                            fiber::sleep(Duration::from_micros(100));
                        }
                    })
                })
                .collect();
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        },
    ];
    for (workers, wait) in [1, 2, 8].into_iter().flat_map(|workers| waits.map(|wait| (workers, wait))) {
        let builder = Runtime::builder().workers(workers);
        let builder = builder.on_suspend(|| std::mem::forget(suspended_inside()));
        let runtime = Watched::new(builder.start().unwrap());
        runtime.run(wait);
    }
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
                quiet_panic("on its way out");
            });
            assert_eq!(message(&*unwinds.join().unwrap_err()), "on its way out");
        });
    }
}

/// Waits of several kinds.
const WAITS: [fn(); 4] = [
    fiber::yield_now,
    || fiber::sleep(Duration::from_millis(1)),
    || fiber::scope(|_| ()),
    || sinew::blocking(|| ()),
];

/// Calls `body` in a fiber of a worker whose thread counts as panicking, because of another fiber
/// of that worker.
fn beside_one_that_unwinds(runtime: &Runtime, body: impl FnOnce() + Send + 'static) {
    runtime.run(|| {
        let (ends, end) = channel::bounded::<()>(0);
        let unwinds = fiber::spawn(move || {
            let _wait = Finally(|| end.recv().unwrap_err());
            quiet_panic("on its way out");
        });
        // Longer than a fiber that unwinds keeps its worker.
        while !std::thread::panicking() {
            fiber::sleep(Duration::from_millis(1));
        }
        body();
        drop(ends);
        assert_eq!(message(&*unwinds.join().unwrap_err()), "on its way out");
    });
}

/// Calls a function when it is dropped.
struct Finally<F: FnMut() -> R, R>(F);

impl<F: FnMut() -> R, R> Drop for Finally<F, R> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A panic in a destructor would abort the process. Which of the fibers of a thread unwinds is not
/// known there.
#[test]
fn a_wait_of_a_fiber_that_unwinds_beside_another_one_keeps_its_worker() {
    let name = "no_suspend::a_wait_of_a_fiber_that_unwinds_beside_another_one_keeps_its_worker";
    let output = in_child(name, || {
        for wait in WAITS {
            beside_one_that_unwinds(&pinned(1), move || {
                let unwinds = fiber::spawn(move || {
                    let _wait = OnDrop(wait);
                    let _inside = Finally(|| fiber::no_suspend(wait));
                    quiet_panic("beside it");
                });
                assert_eq!(message(&*unwinds.join().unwrap_err()), "beside it");
            });
        }
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn what_unwinds_at_a_switch_beside_a_fiber_that_unwinds_waits_there() {
    let name = "no_suspend::what_unwinds_at_a_switch_beside_a_fiber_that_unwinds_waits_there";
    let output = in_child(name, || {
        for wait in WAITS {
            let builder = Runtime::builder().workers(1).on_suspend(move || {
                if fiber::current().name() == Some("followed") {
                    let _wait = OnDrop(wait);
                    quiet_panic("at a switch");
                }
            });
            beside_one_that_unwinds(&Watched::new(builder.start().unwrap()), || {
                let followed = Builder::new().name("followed".to_owned());
                followed.spawn(fiber::yield_now).unwrap().join().unwrap();
            });
        }
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

/// A sender that selects makes its message when it is met. Where nothing else runs on the worker
/// meanwhile, it may never do so.
#[test]
fn a_try_beside_a_fiber_that_unwinds_waits_for_no_sender_that_selects() {
    let (sender, receiver) = channel::bounded::<u32>(0);
    beside_one_that_unwinds(&pinned(1), move || {
        let sends = fiber::spawn(move || {
            let mut select = channel::Select::new();
            select.send(&sender);
            select.select().send(&sender, 7).unwrap();
        });
        while sends.thread().state() != fiber::State::Parked {
            fiber::yield_now();
        }
        fiber::no_suspend(|| {
            assert!(receiver.try_recv().unwrap_err().is_empty());
            let mut select = channel::Select::new();
            select.recv(&receiver);
            assert!(select.try_select().is_err());
        });
        assert_eq!(receiver.recv(), Ok(7));
        sends.join().unwrap();
    });
}
