//! Cancelling fibers by their handles.

use super::support::{everywhere, pinned};
use sinew::fiber::{self, State, Stopped};
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(3_600);

fn until_parked(fiber: &fiber::Fiber) {
    while fiber.state() != State::Parked {
        fiber::yield_now();
    }
}

/// The waits that observe cancellation.
fn waits() -> Vec<fn() -> Result<(), Stopped>> {
    vec![
        || fiber::park_cancellable(),
        || fiber::park_timeout_cancellable(LONG),
        || fiber::sleep_cancellable(LONG),
        || fiber::sleep_until_cancellable(Instant::now() + LONG),
        || {
            let other = fiber::spawn(fiber::park);
            let error = other.join_cancellable().unwrap_err();
            error.handle.thread().unpark();
            error.handle.join().unwrap();
            Err(error.stopped)
        },
    ]
}

#[test]
fn a_fiber_that_waits_is_stopped() {
    everywhere(|| {
        for wait in waits() {
            let fiber = fiber::spawn(wait);
            until_parked(fiber.thread());
            let line = line!() + 1;
            fiber.cancel();
            let stopped = fiber.join().unwrap().unwrap_err();
            assert!(stopped.is_cancelled() && !stopped.is_timed_out() && stopped.reason().is_none());
            assert_eq!((stopped.by().file(), stopped.by().line()), (file!(), line));
            assert_eq!(stopped.at().file(), file!());
        }
    });
}

#[test]
fn a_fiber_that_has_not_begun_runs_and_is_stopped() {
    pinned(1).run(|| {
        for wait in waits() {
            let fiber = fiber::spawn(move || {
                assert!(fiber::is_cancelled());
                (fiber::checkpoint().is_err(), wait().is_err(), fiber::checkpoint().is_err())
            });
            fiber.cancel();
            assert_eq!(fiber.thread().state(), State::New);
            assert_eq!(fiber.join().unwrap(), (true, true, true), "it stays cancelled");
        }
    });
}

#[test]
fn a_fiber_that_runs_notices_at_its_checkpoints() {
    everywhere(|| {
        let fiber = fiber::spawn(|| {
            while fiber::checkpoint().is_ok() {
                fiber::yield_now();
            }
        });
        fiber::yield_now();
        fiber.cancel();
        fiber.join().unwrap();
    });
}

#[test]
fn a_fiber_that_has_ended_hears_of_nothing() {
    everywhere(|| {
        let fiber = fiber::spawn(|| 7);
        while !fiber.is_finished() {
            fiber::yield_now();
        }
        fiber.cancel();
        fiber.cancel();
        assert_eq!(fiber.join().unwrap(), 7);
        assert!(!fiber::is_cancelled() && fiber::checkpoint().is_ok());
    });
}

#[test]
fn many_cancel_one_at_once() {
    everywhere(|| {
        let fiber = fiber::spawn(fiber::park_cancellable);
        fiber::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| fiber.cancel());
            }
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| fiber.cancel());
                }
            });
        });
        assert!(fiber.join().unwrap().unwrap_err().is_cancelled());
    });
}

#[test]
fn waits_that_cannot_say_so_go_on() {
    everywhere(|| {
        let goes_on = Arc::new(AtomicBool::new(false));
        let copy = goes_on.clone();
        let fiber = fiber::spawn(move || {
            fiber::park();
            assert!(copy.load(Ordering::Relaxed), "nothing but the unpark ends it");
            fiber::sleep(Duration::from_micros(50));
            fiber::spawn(fiber::yield_now).join().unwrap();
            fiber::scope(|scope| {
                scope.spawn(fiber::yield_now);
            });
            fiber::checkpoint()
        });
        until_parked(fiber.thread());
        fiber.cancel();
        for _ in 0..10 {
            fiber::yield_now();
        }
        assert!(!fiber.is_finished());
        goes_on.store(true, Ordering::Relaxed);
        fiber.thread().unpark();
        assert!(fiber.join().unwrap().is_err());
    });
}

#[test]
fn a_cancel_is_no_unpark() {
    everywhere(|| {
        let fiber = fiber::spawn(|| {
            fiber::park_cancellable().unwrap_err();
            let begun = Instant::now();
            fiber::park_timeout(Duration::from_millis(2));
            assert!(begun.elapsed() >= Duration::from_millis(2), "no token is left");
        });
        fiber.cancel();
        fiber.join().unwrap();
    });
}

#[test]
fn a_join_that_is_stopped_gives_the_handle_back() {
    everywhere(|| {
        let joiner = fiber::spawn(|| {
            let slow = fiber::spawn(|| {
                fiber::park();
                "its value"
            });
            let error = slow.join_cancellable().unwrap_err();
            assert!(!error.handle.is_finished() && error.to_string().contains("join"));
            let again = error.handle.join_cancellable().unwrap_err();
            again.handle.thread().unpark();
            fiber::shield(|| again.handle.join_cancellable()).unwrap().unwrap()
        });
        fiber::yield_now();
        joiner.cancel();
        assert_eq!(joiner.join().unwrap(), "its value");
        assert_eq!(fiber::spawn(|| 1).join_cancellable().unwrap().unwrap(), 1);
    });
}

#[test]
fn local_and_scoped_fibers_are_cancelled_too() {
    everywhere(|| {
        let local = fiber::spawn_local(|| fiber::park_cancellable().is_err());
        local.cancel();
        assert!(local.join_cancellable().unwrap().unwrap());
        fiber::scope(|scope| {
            let scoped = scope.spawn(|| fiber::park_cancellable().is_err());
            let other = scope.spawn(|| {
                fiber::yield_now();
                fiber::is_cancelled()
            });
            scoped.cancel();
            assert!(scoped.join_cancellable().unwrap().unwrap());
            assert!(!other.join().unwrap(), "the others are not");
        });
    });
}

#[test]
fn whoever_cancels_may_say_why() {
    everywhere(|| {
        let reason = |stopped: Result<(), Stopped>| stopped.unwrap_err().reason().map(str::to_owned);
        let fiber = fiber::spawn(fiber::park_cancellable);
        fiber.cancel_with_reason("the first");
        fiber.cancel_with_reason(String::from("the second"));
        assert_eq!(reason(fiber.join().unwrap()).as_deref(), Some("the first"));
        let local = fiber::spawn_local(fiber::park_cancellable);
        local.cancel_with_reason("local");
        assert_eq!(reason(local.join().unwrap()).as_deref(), Some("local"));
        fiber::scope(|scope| {
            let [one, other] = [(); 2].map(|()| scope.spawn(fiber::park_cancellable));
            one.cancel_with_reason("one");
            scope.cancel_with_reason("all");
            assert_eq!(reason(one.join().unwrap()).as_deref(), Some("one"));
            assert_eq!(reason(other.join().unwrap()).as_deref(), Some("all"));
        });
    });
}

#[test]
fn a_fiber_in_steps_stays_cancelled() {
    everywhere(|| {
        let steps = fiber::spawn_steps(0, |count| {
            *count += 1;
            match fiber::checkpoint() {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) if *count < 5 => ControlFlow::Continue(()),
                Err(stopped) => ControlFlow::Break(stopped),
            }
        });
        fiber::yield_now();
        steps.cancel();
        assert!(steps.join().unwrap().is_cancelled());
    });
}

#[test]
fn nothing_counts_behind_a_shield() {
    everywhere(|| {
        let cleaned = Arc::new(AtomicUsize::new(0));
        let counted = cleaned.clone();
        let fiber = fiber::spawn(move || {
            fiber::park_cancellable().unwrap_err();
            fiber::shield(|| {
                assert!(!fiber::is_cancelled());
                fiber::checkpoint().unwrap();
                fiber::sleep_cancellable(Duration::from_micros(50)).unwrap();
                fiber::spawn(fiber::yield_now).join_cancellable().unwrap().unwrap();
                // Nor for fibers in a scope that is opened there.
                fiber::scope(|scope| {
                    for _ in 0..3 {
                        scope.spawn(|| {
                            fiber::sleep_cancellable(Duration::from_micros(50)).unwrap();
                            counted.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                });
                // What is set inside does count.
                let stopped = fiber::with_deadline(Instant::now(), fiber::checkpoint).unwrap_err();
                assert!(stopped.is_timed_out());
            });
            assert!(fiber::is_cancelled());
        });
        fiber.cancel();
        fiber.join().unwrap();
        assert_eq!(cleaned.load(Ordering::Relaxed), 3);
    });
}

/// A poke that comes for what a shield hides ends no wait inside it, though another token may.
#[test]
fn a_cancel_that_a_shield_hides_ends_no_wait_inside() {
    everywhere(|| {
        let inside = fiber::CancelToken::new();
        let token = inside.clone();
        let fiber =
            fiber::spawn(move || fiber::shield(|| token.run(|| fiber::sleep_cancellable(LONG))).unwrap_err());
        until_parked(fiber.thread());
        fiber.cancel();
        for _ in 0..10 {
            fiber::yield_now();
        }
        assert!(!fiber.is_finished());
        inside.cancel_with_reason("this one");
        assert_eq!(fiber.join().unwrap().reason(), Some("this one"));
    });
}

#[test]
fn the_error_tells_who_and_where() {
    pinned(1).run(|| {
        let fiber = fiber::Builder::new().name("weft".to_owned()).spawn(fiber::checkpoint).unwrap();
        let id = fiber.thread().id();
        fiber.cancel();
        let stopped = fiber.join().unwrap().unwrap_err();
        assert_eq!((stopped.fiber().name(), stopped.fiber_id()), (Some("weft"), id));
        let text = stopped.to_string();
        for part in ["'weft'", &id.as_u64().to_string(), "it was cancelled at", &stopped.by().to_string()] {
            assert!(text.contains(part), "{text}");
        }
        assert!(format!("{stopped:?}").contains("weft"));
        let parent =
            fiber::spawn(|| fiber::scope(|scope| scope.spawn(fiber::park_cancellable).join().unwrap()));
        let number = parent.thread().id().as_u64();
        parent.cancel();
        let text = parent.join().unwrap().unwrap_err().to_string();
        assert!(text.contains(&format!("fiber {number}, which it is part of, was cancelled")), "{text}");
        let error = io::Error::from(stopped.clone());
        assert_eq!(error.kind(), io::ErrorKind::Other);
        assert!(error.get_ref().unwrap().downcast_ref::<Stopped>().unwrap().is_cancelled());
        let late = fiber::with_deadline(Instant::now(), fiber::checkpoint).unwrap_err();
        assert!(late.to_string().starts_with("fiber "), "{late}");
        assert_eq!(io::Error::from(late).kind(), io::ErrorKind::TimedOut);
    });
    let late = fiber::with_deadline(Instant::now(), fiber::checkpoint).unwrap_err();
    assert!(late.to_string().starts_with("thread "), "{late}");
}

#[test]
fn a_join_that_is_stopped_is_an_error_of_io() {
    pinned(1).run(|| {
        let parked = fiber::spawn(fiber::park);
        let fiber = parked.thread().clone();
        let join = || -> io::Result<()> {
            parked.join_cancellable()?.unwrap();
            Ok(())
        };
        let error = fiber::with_deadline(Instant::now(), join).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(error.downcast::<Stopped>().unwrap().is_timed_out());
        fiber.unpark();
    });
}
