//! The end of a runtime.
//!
//! # Safety
//!
//! The fibers that move hold nothing of their thread.
#![expect(unsafe_code, reason = "that fibers may move is a promise")]

use super::runtimes::{KINDS, Kind};
use super::support::{WORKERS, in_child, message, migrating, pinned, stderr, watch_test_with};
use sinew::{Runtime, fiber};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

#[test]
fn a_shutdown_waits_for_what_is_there() {
    for workers in WORKERS {
        for mut runtime in [pinned(workers), migrating(workers)] {
            let done = Arc::new(AtomicUsize::new(0));
            for number in 0..300 {
                let done = done.clone();
                drop(runtime.spawn(move || {
                    fiber::sleep(Duration::from_micros(number));
                    done.fetch_add(1, Ordering::Relaxed);
                }));
            }
            let report = runtime.take().shutdown(None);
            assert!(report.drained && report.waited, "{report:?}");
            assert_eq!(done.load(Ordering::Relaxed), 300);
        }
    }
}

#[test]
fn a_fiber_that_waits_for_ever_is_abandoned_and_reported_by_name() {
    let mut runtime = pinned(2);
    let stuck = runtime.run(|| fiber::Builder::new().name("stuck".to_owned()).spawn(fiber::park).unwrap());
    while stuck.thread().state() != fiber::State::Parked {
        std::thread::yield_now();
    }
    let report = runtime.take().shutdown(Some(Duration::from_millis(20)));
    assert!(!report.drained && report.discarded == 0, "{report:?}");
    assert_eq!(report.leaked.len(), 1, "{report:?}");
    assert_eq!(report.leaked[0].name.as_deref(), Some("stuck"));
    assert!(report.leaked[0].spawned_at.file().ends_with("shutdown.rs"));
    assert!(stuck.join().unwrap_err().is::<fiber::Abandoned>());
}

#[test]
fn a_fiber_that_still_runs_is_reported_by_name() {
    let mut runtime = pinned(2);
    let (release, is_held) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (until, held) = (release.clone(), is_held.clone());
    let busy = runtime.run(move || {
        let hold = move || {
            held.store(true, Ordering::Relaxed);
            while !until.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        };
        fiber::Builder::new().name("busy".to_owned()).spawn(hold).unwrap()
    });
    while !is_held.load(Ordering::Relaxed) {
        std::thread::yield_now();
    }
    let report = runtime.take().shutdown(Some(Duration::from_millis(20)));
    assert!(!report.drained && report.leaked.is_empty(), "{report:?}");
    let names: Vec<_> = report.running.iter().map(|fiber| fiber.name.as_deref()).collect();
    assert_eq!(names, [Some("busy")], "{report:?}");
    release.store(true, Ordering::Relaxed);
    busy.join().expect("it goes on, and ends");
}

#[test]
fn no_new_fibers_while_shutting_down() {
    let _watchdog = watch_test_with("fibers that make others");
    for workers in WORKERS {
        let runtime = Runtime::builder().workers(workers).start().unwrap();
        let (sender, receiver) = mpsc::channel();
        let fiber = runtime.spawn(move || {
            // Until it is refused.
            let error = loop {
                match fiber::try_spawn(|| 6) {
                    Ok(fiber) => drop(fiber),
                    Err(error) => break error,
                }
                fiber::yield_now();
            };
            sender.send(error.to_string()).unwrap();
            error.into_inner()()
        });
        assert!(runtime.shutdown(None).drained);
        assert!(receiver.recv().unwrap().contains("shut down"));
        assert_eq!(fiber.join().unwrap(), 6);
    }
}

#[test]
fn a_runtime_may_be_dropped_by_its_own_fiber() {
    let _watchdog = watch_test_with("a drop from inside");
    for workers in WORKERS {
        let (sender, receiver) = mpsc::channel::<Runtime>();
        let runtime = Runtime::builder().workers(workers).start().unwrap();
        let fiber = runtime.spawn(move || {
            let runtime = receiver.recv().unwrap();
            let child = fiber::spawn(|| 1);
            drop(runtime);
            child.join().unwrap()
        });
        sender.send(runtime).unwrap();
        assert_eq!(fiber.join().unwrap(), 1);
    }
}

#[test]
fn a_shutdown_by_an_own_fiber_does_not_wait() {
    let _watchdog = watch_test_with("a shutdown from inside");
    let (sender, receiver) = mpsc::channel::<Runtime>();
    let runtime = Runtime::builder().workers(2).start().unwrap();
    let fiber = runtime.spawn(move || receiver.recv().unwrap().shutdown(None));
    sender.send(runtime).unwrap();
    assert!(!fiber.join().unwrap().waited);
}

/// A body that `run` waits for is abandoned: the panic of `run` says so, and is told as any other.
#[test]
fn a_run_whose_body_is_abandoned_panics_with_a_message() {
    let output = in_child("shutdown::a_run_whose_body_is_abandoned_panics_with_a_message", || {
        let runtime = Runtime::builder().workers(1).start().unwrap();
        let handle = runtime.handle();
        let (begun, has_begun) = mpsc::channel();
        let waits = std::thread::spawn(move || {
            handle.run(move || {
                begun.send(()).unwrap();
                loop {
                    fiber::park();
                }
            })
        });
        has_begun.recv().unwrap();
        assert_eq!(runtime.shutdown(Some(Duration::ZERO)).leaked.len(), 1);
        let payload = waits.join().unwrap_err();
        assert!(message(&*payload).contains("its runtime was shut down"));
    });
    let told = stderr(&output);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("its runtime was shut down") && told.contains("shutdown.rs:"), "{told}");
}

#[test]
fn several_runtimes_live_side_by_side() {
    let runtimes = [pinned(1), pinned(2), migrating(2)];
    let [one, two, three] = &runtimes;
    let me = std::thread::current().id();
    for runtime in [one, two, three] {
        assert_ne!(runtime.run(|| std::thread::current().id()), me);
    }
    // A fiber of one joins a fiber of another.
    for _ in 0..20 {
        let other = two.spawn(|| {
            fiber::sleep(Duration::from_millis(1));
            4
        });
        one.run(move || {
            let home = std::thread::current().id();
            assert_eq!(other.join().unwrap(), 4);
            assert_eq!(std::thread::current().id(), home, "woken by the other one's worker, and on its own");
        });
    }
}

#[test]
fn who_is_told_to_go_on_after_the_end_does_not() {
    for workers in WORKERS {
        for mut runtime in [pinned(workers), migrating(workers)] {
            let went_on = Arc::new(AtomicUsize::new(0));
            let parks = |went_on: &Arc<AtomicUsize>| {
                let went_on = went_on.clone();
                move || {
                    fiber::park();
                    went_on.fetch_add(1, Ordering::Relaxed);
                }
            };
            let fibers = runtime.spawn_batch((0..20).map(|_| parks(&went_on)));
            while fibers.iter().any(|fiber| fiber.thread().state() != fiber::State::Parked) {
                std::thread::yield_now();
            }
            let report = runtime.take().shutdown(Some(Duration::from_millis(5)));
            assert_eq!(report.leaked.len(), 20, "{report:?}");
            for fiber in fibers {
                let late = fiber.thread().clone();
                assert_eq!(late.state(), fiber::State::Done);
                late.unpark();
                assert_eq!(late.state(), fiber::State::Done);
                assert!(fiber.join().unwrap_err().is::<fiber::Abandoned>());
                late.unpark();
                assert_eq!(late.state(), fiber::State::Done);
            }
            assert_eq!(went_on.load(Ordering::Relaxed), 0);
        }
    }
}

/// Fibers that begin on one worker and end on another leave neither of them behind.
#[test]
fn no_thread_is_left_after_a_drain() {
    let _watchdog = watch_test_with("threads that do not end");
    let threads = || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
        names.filter(|name| name.starts_with("goner-")).count()
    };
    for kind in KINDS {
        let runtime = match kind {
            Kind::Pinned => Runtime::builder(),
            // SAFETY: the fibers hold nothing of their thread.
            Kind::Migrating => unsafe { Runtime::builder().assume_migration_safe() },
        };
        let runtime = runtime.workers(8).name("goner").start().unwrap();
        let moves = || (0..50).for_each(|_| fiber::yield_now());
        runtime.run(move || {
            let fibers = fiber::spawn_batch((0..500).map(|_| moves));
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        });
        assert!(runtime.shutdown(None).drained);
        while threads() != 0 {
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_runtime_may_be_dropped_at_once() {
    for kind in KINDS {
        let _watchdog = watch_test_with(format!("{kind:?}"));
        let body = || {
            fiber::yield_now();
            1
        };
        // The runtime is gone at once, and its threads end when they have run it.
        let fibers: Vec<_> = (0..100).map(|_| super::runtimes::start(1, kind).spawn(body)).collect();
        for fiber in fibers {
            assert_eq!(fiber.join().unwrap(), 1);
        }
    }
}

#[test]
fn a_fiber_that_moves_and_waits_when_it_is_late_is_abandoned_too() {
    for workers in WORKERS {
        let mut runtime = migrating(workers);
        let (begins, has_begun) = mpsc::channel();
        let (release, is_released) = mpsc::channel::<()>();
        let late = runtime.spawn(move || {
            begins.send(()).unwrap();
            // It blocks its thread until the shutdown does not wait for it any more.
            is_released.recv().unwrap();
            drop(is_released);
            fiber::park();
        });
        has_begun.recv().unwrap();
        let report = runtime.take().shutdown(Some(Duration::from_millis(10)));
        assert!(!report.drained, "{report:?}");
        release.send(()).unwrap();
        assert!(late.join().unwrap_err().is::<fiber::Abandoned>());
    }
}

#[test]
fn fibers_that_move_are_abandoned_when_nobody_waits_for_the_end() {
    for workers in WORKERS {
        let mut runtime = migrating(workers);
        let waits = runtime.run(|| fiber::spawn(fiber::park));
        while waits.thread().state() != fiber::State::Parked {
            std::thread::yield_now();
        }
        let (send, receive) = mpsc::channel::<Runtime>();
        let own = runtime.take();
        let ends = own.spawn(move || receive.recv().unwrap().shutdown(Some(Duration::from_millis(10))));
        send.send(own).unwrap();
        assert!(!ends.join().unwrap().waited);
        assert!(waits.join().unwrap_err().is::<fiber::Abandoned>());
    }
}

#[test]
fn fibers_that_move_are_abandoned_too() {
    let mut runtime = migrating(2);
    let waits = runtime.run(|| fiber::Builder::new().name("roamer".to_owned()).spawn(fiber::park).unwrap());
    while waits.thread().state() != fiber::State::Parked {
        std::thread::yield_now();
    }
    let report = runtime.take().shutdown(Some(Duration::from_millis(20)));
    assert!(!report.drained, "{report:?}");
    assert_eq!(report.leaked.len(), 1, "{report:?}");
    assert_eq!(report.leaked[0].name.as_deref(), Some("roamer"));
    assert!(waits.join().unwrap_err().is::<fiber::Abandoned>());
}
