//! Notifications.

use super::super::crowd::in_crowds;
use super::super::support::{everywhere, everywhere_in, pinned, refused};
use sinew::fiber;
use sinew::sync::Notify;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[test]
fn one_notification_is_kept() {
    let notify = Notify::new();
    assert!(!notify.try_wait());
    notify.notify_waiters();
    notify.notify_all();
    assert!(!notify.wait_timeout(Duration::ZERO));
    (0..3).for_each(|_| notify.notify_one());
    notify.wait();
    assert!(!notify.try_wait() && !notify.wait_until(Instant::now()));
    notify.notify_one();
    // It is none of those that are only for who waits now.
    notify.notify_waiters();
    assert!(notify.try_wait());
}

/// A notified waiter does the work, though other waiters give up. No work is left undone.
#[test]
fn no_notification_is_lost() {
    in_crowds(|crowd| {
        let (notify, work, done) =
            (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let copies = (notify.clone(), work.clone(), done.clone());
        crowd.all(5, move |number| {
            let (notify, work, done) = &copies;
            match number {
                0 => (0..100).for_each(|_| {
                    work.fetch_add(1, Ordering::SeqCst);
                    match work.load(Ordering::SeqCst) % 2 {
                        0 => notify.notify_one(),
                        _ => notify.notify_last(),
                    }
                }),
                1..3 => {
                    while done.load(Ordering::SeqCst) < 100 {
                        notify.wait();
                        done.fetch_add(work.swap(0, Ordering::SeqCst), Ordering::SeqCst);
                    }
                    // For the other waiter.
                    notify.notify_one();
                }
                _ => (0..20).for_each(|round| {
                    if notify.wait_timeout(Duration::from_micros(round)) {
                        notify.notify_one();
                    }
                }),
            }
        });
        assert_eq!(done.load(Ordering::SeqCst), 100);
    });
}

#[test]
fn all_who_wait_are_told() {
    in_crowds(|crowd| {
        let (notify, told) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
        let members: Vec<_> = (0..20)
            .map(|number| {
                let (notify, told) = (notify.clone(), told.clone());
                crowd.spawn(number, move || {
                    notify.wait();
                    told.fetch_add(1, Ordering::Relaxed);
                })
            })
            .collect();
        // Fibers and threads that did not wait yet are notified the next time.
        while told.load(Ordering::Relaxed) < 20 {
            notify.notify_waiters();
            fiber::yield_now();
        }
        members.into_iter().for_each(|member| member.join());
        assert!(!notify.try_wait());
    });
}

#[test]
fn a_wait_ends_at_its_time() {
    in_crowds(|crowd| {
        let notify = Arc::new(Notify::new());
        let copy = notify.clone();
        crowd.all(3, move |number| {
            assert!(!match number {
                0 => copy.wait_timeout(Duration::ZERO),
                1 => copy.wait_timeout(Duration::from_micros(200)),
                _ => copy.wait_until(Instant::now() + Duration::from_millis(1)),
            });
        });
        let copy = notify.clone();
        let patient = crowd.spawn(1, move || copy.wait_timeout(Duration::MAX));
        notify.notify_one();
        assert!(patient.join() && !notify.try_wait());
    });
}

/// With one worker, where each fiber runs at once until it waits.
#[test]
fn the_last_one_to_come_is_told() {
    everywhere_in(&[&[1]], || {
        let (notify, log) = (Arc::new(Notify::new()), Arc::new(Mutex::new(Vec::new())));
        let waits = |number: usize| {
            let (notify, log) = (notify.clone(), log.clone());
            let builder = fiber::Builder::new().launch(fiber::Launch::Dispatch);
            let waits = move || {
                notify.wait();
                log.lock().unwrap().push(number);
            };
            builder.spawn(waits).unwrap()
        };
        let told = |notify: &dyn Fn(), many: usize| {
            notify();
            while log.lock().unwrap().len() < many {
                fiber::yield_now();
            }
        };
        let members: Vec<_> = (0..4).map(waits).collect();
        told(&|| notify.notify_last(), 1);
        told(&|| notify.notify_one(), 2);
        told(&|| notify.notify_last(), 3);
        let late = waits(4);
        told(&|| notify.notify_last(), 4);
        told(&|| notify.notify_last(), 5);
        members.into_iter().chain([late]).for_each(|member| member.join().unwrap());
        assert_eq!(*log.lock().unwrap(), [3, 0, 2, 4, 1]);
        assert!(!notify.try_wait());
    });
}

/// One that has given up is passed over: the one before it is told, or the next one to come.
#[test]
fn one_that_gave_up_is_not_the_last() {
    everywhere_in(&[&[1]], || {
        let notify = Arc::new(Notify::new());
        let waits = || {
            let notify = notify.clone();
            let builder = fiber::Builder::new().launch(fiber::Launch::Dispatch);
            builder.spawn(move || notify.wait_cancellable().is_ok()).unwrap()
        };
        let (patient, hasty) = (waits(), waits());
        // It is woken by the cancel, and has not run yet.
        hasty.cancel();
        notify.notify_last();
        assert!(!hasty.join().unwrap() && patient.join().unwrap());
        notify.notify_last();
        notify.notify_last();
        assert!(notify.try_wait() && !notify.try_wait(), "one is kept");
    });
}

/// The last one is disturbed for nothing, by a cancel that a shield hides, while the last one is
/// told. It is passed over, and waits behind the others again.
#[test]
fn one_that_is_passed_over_stays_behind_the_others() {
    everywhere_in(&[&[1]], || {
        let (notify, log) = (Arc::new(Notify::new()), Arc::new(Mutex::new(Vec::new())));
        let members = [0, 1, 2].map(|number| {
            let (notify, log) = (notify.clone(), log.clone());
            let waits = move || {
                fiber::shield(|| fiber::CancelToken::new().run(|| notify.wait_cancellable())).unwrap();
                log.lock().unwrap().push(number);
            };
            fiber::Builder::new().launch(fiber::Launch::Dispatch).spawn(waits).unwrap()
        });
        members[2].cancel();
        notify.notify_last();
        // It waits again after this.
        (0..9).for_each(|_| fiber::yield_now());
        for many in 2..=3 {
            notify.notify_one();
            while log.lock().unwrap().len() < many {
                fiber::yield_now();
            }
        }
        members.into_iter().for_each(|member| member.join().unwrap());
        assert_eq!(*log.lock().unwrap(), [1, 0, 2]);
    });
}

/// A fiber is cancelled while it is told: it was told, or the next one is.
#[test]
fn a_cancel_that_meets_a_notification_loses_nothing() {
    everywhere(|| {
        for round in 0..100 {
            let notify = Arc::new(Notify::new());
            let copy = notify.clone();
            let waits = Arc::new(fiber::spawn(move || copy.wait_cancellable()));
            (0..round % 3).for_each(|_| fiber::yield_now());
            let copy = waits.clone();
            let canceller = fiber::spawn(move || copy.cancel());
            match round % 2 {
                0 => notify.notify_one(),
                _ => notify.notify_last(),
            }
            canceller.join().unwrap();
            let outcome = Arc::into_inner(waits).unwrap().join().unwrap();
            assert_eq!(notify.try_wait(), outcome.is_err());
        }
    });
}

#[test]
fn a_wait_inside_no_suspend_panics_and_leaves_no_trace() {
    let runtime = pinned(1);
    runtime.run(|| {
        let notify = Notify::new();
        refused(|| notify.wait());
        fiber::no_suspend(|| notify.notify_one());
        fiber::no_suspend(|| notify.wait());
    });
}

#[test]
fn its_traits_are_as_they_should_be() {
    static NOTIFY: Notify = Notify::new();
    fn is_free<T: UnwindSafe + RefUnwindSafe + Send + Sync>() {}
    is_free::<Notify>();
    std::thread::spawn(|| NOTIFY.notify_one());
    NOTIFY.wait();
    assert_eq!(format!("{NOTIFY:?} {:?}", Notify::default()).matches("is_notified: false").count(), 2);
}
