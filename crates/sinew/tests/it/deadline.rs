//! Deadlines.

use super::support::{everywhere, pinned, quiet_panic};
use sinew::coroutine::{Coroutine, CoroutineState, MmapStack};
use sinew::os::unix::net::UnixStream;
use sinew::{fiber, time};
use std::io::Read;
use std::ops::ControlFlow;
use std::panic::catch_unwind;
use std::thread;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(3_600);

fn soon() -> Instant {
    Instant::now() + Duration::from_millis(1)
}

fn far() -> Instant {
    Instant::now() + LONG
}

fn check_waits() {
    let begun = Instant::now();
    for wait in [
        || fiber::sleep_cancellable(LONG),
        || fiber::park_cancellable(),
        || fiber::park_timeout_cancellable(LONG),
        || {
            let other = fiber::spawn(fiber::park);
            let error = other.join_cancellable().unwrap_err();
            error.handle.thread().unpark();
            error.handle.join().unwrap();
            Err(error.stopped)
        },
    ] {
        let deadline = soon();
        let line = line!() + 1;
        let stopped = fiber::with_deadline(deadline, wait).unwrap_err();
        assert!(Instant::now() >= deadline && stopped.is_timed_out() && !stopped.is_cancelled());
        assert_eq!((stopped.by().file(), stopped.by().line()), (file!(), line));
        assert!(stopped.to_string().contains("the deadline that was set at"), "{stopped}");
    }
    assert!(begun.elapsed() >= Duration::from_millis(4));
    assert!(fiber::checkpoint().is_ok() && fiber::deadline().is_none());
}

#[test]
fn waits_that_can_say_so_end_at_the_deadline() {
    everywhere(check_waits);
    // It watches over the thread.
    let _watched = pinned(1);
    check_waits();
}

#[test]
fn the_nearest_one_counts() {
    everywhere(|| {
        let (near, later) = (soon(), far());
        fiber::with_deadline(near, || {
            fiber::with_deadline(later, || {
                assert_eq!(fiber::deadline(), Some(near));
                assert!(fiber::sleep_cancellable(LONG).unwrap_err().is_timed_out());
            });
        });
        fiber::with_deadline(later, || {
            let inner = soon();
            fiber::with_deadline(inner, || {
                assert_eq!(fiber::deadline(), Some(inner));
                assert!(fiber::sleep_cancellable(LONG).unwrap_err().is_timed_out());
            });
            assert_eq!(fiber::deadline(), Some(later));
            fiber::checkpoint().unwrap();
        });
        assert_eq!(fiber::deadline(), None);
    });
}

#[test]
fn a_time_out_of_ones_own_is_no_error() {
    everywhere(|| {
        fiber::with_deadline(far(), || {
            fiber::sleep_cancellable(Duration::from_micros(50)).unwrap();
            fiber::sleep_until_cancellable(Instant::now()).unwrap();
            fiber::park_timeout_cancellable(Duration::from_micros(50)).unwrap();
        });
    });
}

#[test]
fn one_that_has_passed_lets_the_body_run() {
    everywhere(|| {
        let past = Instant::now();
        let value = fiber::with_deadline(past, || {
            fiber::yield_now();
            fiber::sleep(Duration::from_micros(10));
            assert!(!fiber::is_cancelled());
            assert!(fiber::checkpoint().unwrap_err().is_timed_out());
            assert!(fiber::sleep_cancellable(Duration::ZERO).unwrap_err().is_timed_out());
            fiber::current().unpark();
            assert!(fiber::park_cancellable().unwrap_err().is_timed_out());
            fiber::park();
            7
        });
        assert_eq!(value, 7);
    });
}

#[test]
fn one_at_the_end_of_time_is_never_reached() {
    everywhere(|| {
        let mut end = Instant::now();
        for exponent in (0..64).rev() {
            end = end.checked_add(Duration::from_secs(1 << exponent)).unwrap_or(end);
        }
        fiber::with_deadline(end, || {
            fiber::checkpoint().unwrap();
            fiber::sleep_cancellable(Duration::from_micros(50)).unwrap();
            let fiber = fiber::spawn(fiber::yield_now);
            fiber.join_cancellable().unwrap().unwrap();
        });
    });
}

#[test]
fn a_deadline_is_put_back_after_a_panic() {
    everywhere(|| {
        let deadline = far();
        fiber::with_deadline(deadline, || {
            let panic = catch_unwind(|| fiber::with_deadline(Instant::now(), || quiet_panic("inside")));
            assert!(panic.is_err());
            assert_eq!(fiber::deadline(), Some(deadline));
        });
        assert_eq!(fiber::deadline(), None);
    });
}

#[test]
fn fibers_have_it_on_request() {
    everywhere(|| {
        let deadline = far();
        fiber::with_deadline(deadline, || {
            assert_eq!(fiber::spawn(fiber::deadline).join().unwrap(), None);
            let heir = fiber::Builder::new().inherit_deadline().spawn(|| {
                // Not that of its children, which do not ask.
                (fiber::deadline(), fiber::spawn(fiber::deadline).join().unwrap())
            });
            assert_eq!(heir.unwrap().join().unwrap(), (Some(deadline), None));
            fiber::scope(|scope| {
                scope.ignore_deadline();
                assert_eq!(scope.spawn(fiber::deadline).join().unwrap(), None);
                let heir = fiber::Builder::new().inherit_deadline().spawn_scoped(scope, fiber::deadline);
                assert_eq!(heir.unwrap().join().unwrap(), Some(deadline));
            });
            let behind = fiber::shield(|| {
                let heir = fiber::Builder::new().inherit_deadline().spawn(fiber::deadline);
                heir.unwrap().join().unwrap()
            });
            assert_eq!(behind, None);
        });
    });
}

type Suspended = Coroutine<(), (), (), MmapStack>;

/// A coroutine that is suspended inside a region.
fn suspended(deadline: Instant) -> Suspended {
    let stack = MmapStack::new(256 * 1024).unwrap();
    let mut coroutine = Coroutine::new(stack, move |suspender, ()| {
        fiber::with_deadline(deadline, || suspender.suspend(()));
    });
    assert!(matches!(coroutine.resume(()), CoroutineState::Yielded(())));
    coroutine
}

fn assert_over(mut coroutine: Suspended) {
    assert!(matches!(coroutine.resume(()), CoroutineState::Complete(())));
}

/// Regions may end in any order: no deadline of a region that is over is left.
#[test]
fn a_coroutine_may_outlive_the_regions_around_it() {
    fn check() {
        let outer = far();
        let coroutine = fiber::with_deadline(outer, || suspended(Instant::now()));
        assert_eq!(fiber::deadline(), None, "the outer region is over, and what is inside it");
        assert_over(coroutine);
        assert_eq!(fiber::deadline(), None, "nothing comes back");
        let coroutine = suspended(far());
        fiber::with_deadline(outer, || assert_over(coroutine));
        assert_eq!(fiber::deadline(), None);
        let many: Vec<_> = (0..200).map(|_| suspended(far())).collect();
        many.into_iter().for_each(assert_over);
        assert_eq!(fiber::deadline(), None);
        // Dropped, so that it unwinds.
        drop(fiber::with_deadline(outer, || suspended(far())));
        assert_eq!(fiber::deadline(), None);
    }
    everywhere(|| {
        // Coroutines stay on their thread.
        let _pin = fiber::pin();
        check();
    });
    thread::spawn(check).join().unwrap();
}

#[test]
fn a_coroutine_may_leave_its_region_in_another_fiber() {
    everywhere(|| {
        let _pin = fiber::pin();
        let left = fiber::spawn_local(|| suspended(far())).join().unwrap();
        let deadline = far();
        fiber::with_deadline(deadline, || {
            assert_over(left);
            assert_eq!(fiber::deadline(), Some(deadline), "it was not its region");
        });
        let mine = suspended(far());
        let theirs = fiber::spawn_local(move || {
            assert_over(mine);
            fiber::deadline()
        });
        assert_eq!(theirs.join().unwrap(), None);
    });
}

/// A step begins with the deadline that its fiber was made with, even if the last step has left a
/// region suspended.
#[test]
fn a_step_leaves_no_region_to_the_next() {
    everywhere(|| {
        let steps = fiber::spawn_steps(0, |step| {
            *step += 1;
            if *step == 1 {
                // The coroutine is forgotten, so its region never ends.
                std::mem::forget(suspended(far()));
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(fiber::deadline())
            }
        });
        assert_eq!(steps.join().unwrap(), None);
    });
}

/// A time in place of a moment: none at all, some, and more than the clock has.
#[test]
fn timeouts_are_deadlines() {
    fn check() {
        let over = time::timeout(Duration::ZERO, || (fiber::checkpoint().unwrap_err().is_timed_out(), 7));
        assert_eq!(over, (true, 7));
        let soon = time::timeout(Duration::from_millis(1), || fiber::sleep_cancellable(LONG));
        assert!(soon.unwrap_err().is_timed_out());
        time::timeout(Duration::MAX, || {
            assert_eq!(fiber::deadline(), None);
            fiber::checkpoint().unwrap();
        });
        time::timeout(LONG, || {
            let outer = fiber::deadline().unwrap();
            time::timeout(Duration::MAX, || assert_eq!(fiber::deadline(), Some(outer)));
            time::timeout(LONG * 2, || assert_eq!(fiber::deadline(), Some(outer)));
        });
    }
    everywhere(check);
    thread::spawn(check).join().unwrap();
}

/// A tick that was not waited for to its end is still to come.
#[test]
fn ticks_are_ended_and_not_lost() {
    fn check() {
        let start = Instant::now();
        let mut ticks = time::interval_at(start, LONG);
        assert_eq!(ticks.tick_cancellable().unwrap(), start);
        for _ in 0..2 {
            let stopped = fiber::with_deadline(soon(), || ticks.tick_cancellable());
            assert!(stopped.unwrap_err().is_timed_out());
        }
        let mut never = time::interval_at(start, Duration::MAX);
        never.tick();
        let stopped = fiber::with_deadline(soon(), || never.tick_cancellable());
        assert!(stopped.unwrap_err().is_timed_out());
    }
    everywhere(check);
    thread::spawn(check).join().unwrap();
}

/// The fibers of a scope have the deadline in force where it was opened, whichever fiber makes
/// them; those made after they are to ignore it have none, and neither have fibers that are in no
/// scope.
#[test]
fn fibers_of_a_scope_inherit_its_deadline() {
    fn check() {
        assert_eq!(fiber::scope(|scope| scope.spawn(fiber::deadline).join().unwrap()), None);
        time::timeout(LONG, || {
            let outer = fiber::deadline();
            fiber::scope(|scope| {
                assert_eq!(scope.spawn(fiber::deadline).join().unwrap(), outer);
                let nearer = || time::timeout(LONG / 2, || scope.spawn(fiber::deadline).join().unwrap());
                assert_eq!(nearer(), outer);
                assert_eq!(scope.spawn(nearer).join().unwrap(), outer);
                assert_eq!(fiber::shield(|| scope.spawn(fiber::deadline).join().unwrap()), outer);
                let grandchild = scope.spawn(|| fiber::spawn(fiber::deadline).join().unwrap());
                assert_eq!(grandchild.join().unwrap(), None);
                let of_inner =
                    scope.spawn(|| fiber::scope(|inner| inner.spawn(fiber::deadline).join().unwrap()));
                assert_eq!(of_inner.join().unwrap(), outer);
                scope.ignore_deadline();
                assert_eq!(scope.spawn(fiber::deadline).join().unwrap(), None);
            });
            let behind = fiber::shield(|| fiber::scope(|scope| scope.spawn(fiber::deadline).join().unwrap()));
            assert_eq!(behind, None);
        });
    }
    everywhere(check);
    thread::spawn(check).join().unwrap();
}

/// A builder that asks for its maker's deadline too has the nearer one, and values come along.
#[test]
fn of_two_deadlines_a_fiber_inherits_the_nearer_one() {
    everywhere(|| {
        let (near, later) = (far(), far() + LONG);
        let builder = || fiber::Builder::new().inherit_deadline();
        fiber::with_deadline(later, || {
            fiber::scope(|scope| {
                let heir = || builder().spawn_scoped(scope, fiber::deadline).unwrap().join().unwrap();
                assert_eq!(fiber::with_deadline(near, heir), Some(near));
                let found = fiber::shield(|| fiber::with_deadline(later + LONG, heir));
                assert_eq!(found, Some(later));
            });
        });
    });
}

/// The scope does not wait for a peer that never answers.
#[test]
fn a_time_out_ends_reads_of_the_fibers_of_a_scope() {
    everywhere(|| {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let line = line!() + 1;
        let errors = time::timeout(Duration::from_millis(1), || {
            fiber::scope(|scope| {
                let readers = [(); 3].map(|()| scope.spawn(|| (&ours).read(&mut [0]).unwrap_err()));
                readers.map(|reader| reader.join().unwrap())
            })
        });
        for error in errors {
            let stopped = error.downcast::<fiber::Stopped>().unwrap();
            assert!(stopped.is_timed_out());
            assert_eq!((stopped.by().file(), stopped.by().line()), (file!(), line));
        }
    });
}
