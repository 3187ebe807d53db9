//! Something that is done once.

use super::super::crowd::{as_std, in_crowds};
use super::super::support::{everywhere, message, mute, pinned, quiet_panic, refused};
use sinew::fiber;
use sinew::sync::{Once, OnceLock};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

as_std! {
    fn one_of_many_runs_it(crowd) {
        let site = sync::Arc::new((sync::Once::new(), sync::atomic::AtomicUsize::new(0)));
        let copy = site.clone();
        crowd.all(8, move |_| {
            copy.0.call_once(|| {
                thread::yield_now();
                copy.1.fetch_add(1, sync::atomic::Ordering::Relaxed);
            });
            assert_eq!(copy.1.load(sync::atomic::Ordering::Relaxed), 1);
            assert!(copy.0.is_completed());
        });
        site.0.call_once(|| panic!("it has run"));
        site.0.call_once_force(|_| panic!("it has run"));
        site.0.wait();
        site.0.wait_force();
    }

    fn those_who_wait_go_on_when_it_has_run(crowd) {
        let once = sync::Arc::new(sync::Once::new());
        let waiters: Vec<_> = (0..6)
            .map(|number| {
                let once = once.clone();
                crowd.spawn(number, move || {
                    if number % 3 == 0 { once.wait() } else { once.wait_force() }
                    assert!(once.is_completed());
                })
            })
            .collect();
        thread::yield_now();
        assert!(!once.is_completed() && !waiters.iter().any(|waiter| waiter.is_finished()));
        once.call_once(|| ());
        waiters.into_iter().for_each(|waiter| waiter.join());
    }

    fn a_panic_poisons_it_until_it_is_forced(crowd) {
        let _muted = mute("Once instance has previously been poisoned");
        let once = sync::Arc::new(sync::Once::new());
        let waits = |number: usize| {
            let once = once.clone();
            crowd.spawn(number, move || if number == 0 { once.wait() } else { once.wait_force() })
        };
        let (hears, waits_on) = (waits(0), waits(1));
        let copy = once.clone();
        let panicked = crowd.spawn(1, move || copy.call_once(|| quiet_panic("while it runs")));
        assert!(panicked.try_join().is_err());
        let panic = hears.try_join().unwrap_err();
        assert!(message(&*panic).contains("Once instance has previously been poisoned"));
        let copy = once.clone();
        let panic = crowd.spawn(0, move || copy.call_once(|| ())).try_join().unwrap_err();
        assert!(message(&*panic).contains("Once instance has previously been poisoned"));
        assert!(!once.is_completed() && !waits_on.is_finished());
        once.call_once_force(|state| {
            assert!(state.is_poisoned());
            assert_eq!(format!("{state:?}"), "OnceState { poisoned: true }");
        });
        waits_on.join();
        once.call_once(|| panic!("it has run"));
        once.wait();
    }

    fn forcing_one_that_is_in_order_says_so(_crowd) {
        let once = sync::Once::new();
        assert_eq!(format!("{once:?}"), "Once { .. }");
        once.call_once_force(|state| assert_eq!(format!("{state:?}"), "OnceState { poisoned: false }"));
        assert!(once.is_completed());
        fn has_traits<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
        has_traits::<sync::Once>();
    }

    fn it_may_be_a_static_item(crowd) {
        static ONCE: sync::Once = sync::Once::new();
        static CALLS: sync::atomic::AtomicUsize = sync::atomic::AtomicUsize::new(0);
        #[expect(deprecated, reason = "it is there because std has it")]
        static OLD: sync::Once = sync::ONCE_INIT;
        crowd.all(4, |_| {
            ONCE.call_once(|| _ = CALLS.fetch_add(1, sync::atomic::Ordering::Relaxed));
            OLD.call_once(|| ());
        });
        assert_eq!(CALLS.load(sync::atomic::Ordering::Relaxed), 1);
    }
}

/// The closure suspends: another fiber of the same worker waits, and is not taken for the one that
/// runs it.
#[test]
fn others_wait_for_a_closure_that_suspends() {
    everywhere(|| {
        let site = Arc::new((Once::new(), AtomicBool::new(false), AtomicUsize::new(0)));
        let copy = site.clone();
        let runs = fiber::spawn(move || {
            copy.0.call_once(|| {
                while !copy.1.load(Ordering::Relaxed) {
                    fiber::yield_now();
                }
                copy.2.fetch_add(1, Ordering::Relaxed);
            });
        });
        let others: Vec<_> = (0..4)
            .map(|_| {
                let copy = site.clone();
                fiber::spawn(move || {
                    copy.0.call_once(|| _ = copy.2.fetch_add(1, Ordering::Relaxed));
                    copy.2.load(Ordering::Relaxed)
                })
            })
            .collect();
        fiber::yield_now();
        site.1.store(true, Ordering::Relaxed);
        assert!(others.into_iter().all(|other| other.join().unwrap() == 1));
        runs.join().unwrap();
    });
}

#[test]
fn a_closure_that_calls_its_own_once_panics() {
    let _muted = mute("`Once` re-entered");
    in_crowds(|crowd| {
        for how in 0..5_usize {
            let once = Arc::new(Once::new());
            let copy = once.clone();
            let panicked = crowd.spawn(how, move || {
                copy.call_once(|| {
                    // After a suspension too.
                    fiber::yield_now();
                    match how {
                        0 => copy.call_once(|| ()),
                        1 => copy.call_once_force(|_| ()),
                        2 => copy.wait(),
                        3 => copy.wait_force(),
                        _ => assert!(copy.wait_timeout(Duration::MAX)),
                    }
                });
            });
            let panic = panicked.try_join().unwrap_err();
            assert!(message(&*panic).contains("`Once` re-entered"), "{}", message(&*panic));
            // The panic went through the closure.
            once.call_once_force(|state| assert!(state.is_poisoned()));
        }
    });
}

#[test]
fn a_wait_ends_at_its_time() {
    in_crowds(|crowd| {
        let once = Arc::new(Once::new());
        let copy = once.clone();
        crowd.all(3, move |number| {
            assert!(!copy.wait_timeout(
                [Duration::ZERO, Duration::from_micros(200), Duration::from_millis(1)][number]
            ));
        });
        let copy = once.clone();
        let patient = crowd.spawn(1, move || copy.wait_timeout(Duration::MAX));
        once.call_once(|| ());
        assert!(patient.join() && once.wait_timeout(Duration::ZERO));
    });
}

#[test]
fn cancellation_ends_a_wait_that_can_say_so() {
    everywhere(|| {
        let (once, cell) = (Arc::new(Once::new()), Arc::new(OnceLock::new()));
        let (one, two) = (once.clone(), cell.clone());
        let waits = fiber::spawn(move || one.wait_cancellable());
        let waits_too = fiber::spawn(move || two.wait_cancellable().copied());
        fiber::yield_now();
        waits.cancel_with_reason("enough");
        waits_too.cancel_with_reason("enough");
        assert_eq!(waits.join().unwrap().unwrap_err().reason(), Some("enough"));
        assert_eq!(waits_too.join().unwrap().unwrap_err().reason(), Some("enough"));
        let (one, two) = (once.clone(), cell.clone());
        let deaf = fiber::spawn(move || {
            one.wait();
            *two.wait()
        });
        deaf.cancel();
        once.call_once(|| ());
        cell.set(7).unwrap();
        assert_eq!(deaf.join().unwrap(), 7);
        assert!(once.wait_cancellable().is_ok());
        assert_eq!(*cell.wait_cancellable().unwrap(), 7);
    });
}

#[test]
fn a_wait_inside_no_suspend_panics_and_leaves_no_trace() {
    let runtime = pinned(1);
    runtime.run(|| {
        let (once, begun, may_end) = (Arc::new(Once::new()), Arc::default(), Arc::default());
        let (copy, flags): (_, [Arc<AtomicBool>; 2]) =
            (once.clone(), [Arc::clone(&begun), Arc::clone(&may_end)]);
        let runs = fiber::spawn(move || {
            copy.call_once(|| {
                flags[0].store(true, Ordering::Relaxed);
                while !flags[1].load(Ordering::Relaxed) {
                    fiber::yield_now();
                }
            });
        });
        while !begun.load(Ordering::Relaxed) {
            fiber::yield_now();
        }
        let waits: [&dyn Fn(); 2] = [&|| once.call_once(|| ()), &|| once.wait()];
        for wait in waits {
            refused(wait);
        }
        may_end.store(true, Ordering::Relaxed);
        runs.join().unwrap();
        fiber::no_suspend(|| once.call_once(|| panic!("it has run")));
    });
}
