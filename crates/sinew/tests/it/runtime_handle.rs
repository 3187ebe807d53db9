//! Handles to runtimes.

use super::support::{in_child, migrating, pinned, stderr, until};
use sinew::Runtime;
use sinew::fiber::{self, State};
use sinew::runtime::Handle;
use sinew::time::{Schedule, Timer};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

fn name_of(handle: &Handle) -> String {
    handle.describe().lines().next().unwrap().to_owned()
}

fn named(name: &str) -> Runtime {
    Runtime::builder().workers(1).name(name).start().unwrap()
}

#[test]
fn the_current_runtime_is_where_the_caller_makes_fibers() {
    assert!(Handle::try_current().is_none());
    let of_default = name_of(&Handle::default_runtime());
    assert_eq!(name_of(&Handle::current()), of_default);
    assert_eq!(name_of(&sinew::run(Handle::current)), of_default);
    let runtime = named("garden");
    let inside = runtime.run(|| Handle::try_current().unwrap());
    assert!(name_of(&inside).contains("'garden'"), "{inside:?}");
    // By a handle that has left its runtime.
    assert!(inside.run(|| name_of(&Handle::current())).contains("'garden'"));
    assert!(runtime.shutdown(None).drained);
}

#[test]
fn a_handle_does_what_its_runtime_does() {
    for runtime in [pinned(2), migrating(2)] {
        let handle = runtime.handle();
        assert_eq!(handle.spawn(|| 1).join().unwrap(), 1);
        assert_eq!(handle.try_spawn(|| 2).unwrap().join().unwrap(), 2);
        let batch = handle.spawn_batch([|| 3, || 4]);
        assert_eq!(batch.into_iter().map(|fiber| fiber.join().unwrap()).sum::<i32>(), 7);
        assert_eq!(handle.run(|| 5), 5);
        assert_eq!((handle.workers(), handle.groups(), handle.group_size(0)), (2, 1, Some(2)));
        assert_eq!(handle.stats().spawned, 5);
        assert!(handle.stack_stats().pooled > 0 && !handle.is_closed());
        assert_eq!(handle.describe(), runtime.describe());
    }
}

#[test]
fn timers_may_be_in_the_runtime_of_a_handle() {
    let handle = named("clock").handle();
    let (sender, receiver) = mpsc::channel();
    let runtime = named("tower");
    let timer = Timer::builder()
        .runtime(&runtime.handle())
        .build(move || sender.send(name_of(&Handle::current())).unwrap())
        .unwrap();
    timer.arm(Schedule::after(Duration::ZERO));
    assert!(receiver.recv().unwrap().contains("'tower'"));
    assert!(handle.is_closed(), "its runtime was dropped");
    assert!(runtime.shutdown(None).drained);
}

#[test]
fn a_scope_may_have_its_fibers_in_another_runtime() {
    let runtime = named("elsewhere");
    let check = || {
        let words = [String::from("not"), String::from("moved")];
        let found = runtime.scope(|scope| {
            let fibers = words.each_ref().map(|word| {
                scope.spawn(move || (word.len(), name_of(&Handle::current()), fiber::spawn(|| ()).join()))
            });
            let more = scope.spawn_batch([|| name_of(&Handle::current())]);
            assert!(more.into_iter().all(|fiber| fiber.join().unwrap().contains("'elsewhere'")));
            fibers.map(|fiber| fiber.join().unwrap())
        });
        assert_eq!(found.each_ref().map(|(length, ..)| *length), [3, 5]);
        assert!(found.iter().all(|(_, name, _)| name.contains("'elsewhere'")), "{found:?}");
    };
    check();
    thread::scope(|scope| scope.spawn(|| pinned(1).scope(|scope| scope.spawn(check).join().unwrap())).join())
        .unwrap();
    assert!(runtime.shutdown(None).drained);
}

#[test]
fn after_a_shutdown_by_one_handle_all_refuse_fibers() {
    for mut runtime in [pinned(2), migrating(2)] {
        let (one, other) = (runtime.handle(), runtime.handle());
        let fiber = other.spawn(|| fiber::sleep(Duration::from_millis(1)));
        let report = one.shutdown(None);
        assert!(report.drained && report.waited, "{report:?}");
        assert!(fiber.is_finished());
        for handle in [&one, &other, &runtime.handle()] {
            assert!(handle.is_closed());
            assert!(handle.try_spawn(|| ()).is_err());
            assert_eq!((handle.stats().spawned, handle.stats().live), (1, 0));
        }
        assert!(runtime.take().shutdown(None).drained, "it is over already");
    }
}

#[test]
fn a_shared_runtime_can_be_shut_down() {
    let runtime = Arc::new(named("shared"));
    let other = runtime.clone();
    assert!(thread::spawn(move || other.shutdown(None)).join().unwrap().drained);
    assert!(runtime.try_spawn(|| ()).is_err());
}

/// The nearest limit counts for all waiters, also for those that came before it was set.
#[test]
fn several_may_shut_down_at_once() {
    let mut runtime = pinned(2);
    let stuck = runtime.spawn(fiber::park);
    until(|| stuck.thread().state() == State::Parked, || "it does not park".to_owned());
    let runtime = runtime.take();
    let without_limit = runtime.handle();
    let first = thread::spawn(move || without_limit.shutdown(None));
    until(|| runtime.is_closed(), || "it is not shut down".to_owned());
    let reports = [runtime.shutdown(Some(Duration::from_millis(1))), first.join().unwrap()];
    for report in reports {
        assert!(!report.drained && report.waited && report.leaked.len() == 1, "{report:?}");
    }
    assert!(stuck.join().unwrap_err().is::<fiber::Abandoned>());
}

#[test]
fn a_shutdown_that_was_begun_inside_is_waited_for_outside() {
    for mut runtime in [pinned(2), migrating(2)] {
        let handle = runtime.handle();
        let report = runtime.run(move || {
            handle.begin_shutdown();
            assert!(handle.is_closed() && fiber::try_spawn(|| ()).is_err());
            handle.shutdown(None)
        });
        assert!(!report.waited && !report.drained, "{report:?}");
        let report = runtime.take().shutdown(None);
        assert!(report.waited && report.drained, "{report:?}");
    }
}

/// Other fibers of the caller's worker run meanwhile.
#[test]
fn a_fiber_may_wait_for_the_end_of_another_runtime() {
    let (outer, inner) = (pinned(1), named("inner"));
    let turns = Arc::new(AtomicUsize::new(0));
    let release = Arc::new(AtomicBool::new(false));
    let (may_end, seen) = (release.clone(), turns.clone());
    drop(inner.spawn(move || {
        while !may_end.load(Ordering::Relaxed) {
            fiber::yield_now();
        }
    }));
    let closing = inner.handle();
    let waits = outer.spawn(move || closing.shutdown(None));
    let ticks = outer.spawn(move || {
        until_closed(&inner.handle());
        for _ in 0..10 {
            fiber::yield_now();
            seen.fetch_add(1, Ordering::Relaxed);
        }
        release.store(true, Ordering::Relaxed);
    });
    assert!(waits.join().unwrap().drained);
    ticks.join().unwrap();
    assert_eq!(turns.load(Ordering::Relaxed), 10);
}

fn until_closed(handle: &Handle) {
    while !handle.is_closed() {
        fiber::yield_now();
    }
}

#[test]
fn the_default_runtime_can_be_shut_down_and_stays_so() {
    let output = in_child("runtime_handle::the_default_runtime_can_be_shut_down_and_stays_so", || {
        let fiber = fiber::spawn(|| fiber::sleep(Duration::from_millis(1)));
        assert!(Handle::default_runtime().shutdown(None).drained);
        assert!(fiber.is_finished() && Handle::default_runtime().is_closed());
        let error = fiber::try_spawn(|| ()).unwrap_err();
        assert!(error.to_string().contains("shut down"), "{error}");
        sinew::run(|| ());
    });
    let stderr = stderr(&output);
    assert!(!output.status.success() && stderr.contains("shut down"), "{stderr}");
    assert!(stderr.contains("runtime_handle.rs"), "it points at the caller: {stderr}");
}
