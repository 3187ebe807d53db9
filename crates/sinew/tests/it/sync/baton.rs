//! Batons.

use super::super::crowd::in_crowds;
use super::super::support::{everywhere, pinned, refused};
use sinew::fiber;
use sinew::sync::Baton;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[test]
fn two_pass_batons_to_and_fro() {
    in_crowds(|crowd| {
        let (batons, total) = (Arc::new([Baton::new(), Baton::new()]), Arc::new(AtomicUsize::new(0)));
        let count = total.clone();
        batons[0].post();
        crowd.all(2, move |number| {
            for round in 0..100 {
                batons[number].wait();
                batons[number].reset();
                assert_eq!(count.fetch_add(1, Ordering::Relaxed), round * 2 + number);
                batons[1 - number].post();
            }
        });
        assert_eq!(total.load(Ordering::Relaxed), 200);
    });
}

/// Also those who have not run yet when it is reset.
#[test]
fn all_who_wait_go_on() {
    in_crowds(|crowd| {
        let (baton, ready) = (Arc::new(Baton::new()), Arc::new(AtomicUsize::new(0)));
        let waiters: Vec<_> = (0..40)
            .map(|number| {
                let (baton, ready) = (baton.clone(), ready.clone());
                crowd.spawn(number, move || {
                    ready.fetch_add(1, Ordering::Relaxed);
                    baton.wait();
                })
            })
            .collect();
        while ready.load(Ordering::Relaxed) < 40 {
            fiber::yield_now();
        }
        (0..20).for_each(|_| fiber::yield_now());
        baton.post();
        baton.reset();
        // For those who were about to wait.
        baton.post();
        baton.post();
        waiters.into_iter().for_each(|waiter| waiter.join());
        assert!(baton.is_ready() && baton.try_wait());
        baton.wait();
        baton.reset();
        assert!(!baton.is_ready() && !baton.try_wait());
    });
}

#[test]
fn a_wait_ends_at_its_time() {
    in_crowds(|crowd| {
        let baton = Arc::new(Baton::new());
        let copy = baton.clone();
        crowd.all(4, move |number| {
            let is_posted = match number {
                0 => copy.wait_timeout(Duration::ZERO),
                1 => copy.wait_timeout(Duration::from_micros(200)),
                2 => copy.wait_until(Instant::now()),
                _ => copy.wait_until(Instant::now() + Duration::from_millis(1)),
            };
            assert!(!is_posted);
        });
        let copy = baton.clone();
        let patient = crowd.spawn(1, move || copy.wait_timeout(Duration::MAX));
        baton.post();
        assert!(patient.join() && baton.wait_timeout(Duration::ZERO) && baton.wait_until(Instant::now()));
    });
}

#[test]
fn cancellation_ends_a_wait_that_can_say_so() {
    everywhere(|| {
        let baton = Arc::new(Baton::new());
        let copy = baton.clone();
        let waits = fiber::spawn(move || copy.wait_cancellable());
        fiber::yield_now();
        waits.cancel();
        assert!(waits.join().unwrap().unwrap_err().is_cancelled());
        baton.post();
        baton.wait_cancellable().unwrap();
    });
}

#[test]
fn a_wait_inside_no_suspend_panics_and_leaves_no_trace() {
    let runtime = pinned(1);
    runtime.run(|| {
        let baton = Baton::new();
        refused(|| baton.wait());
        fiber::no_suspend(|| baton.post());
        fiber::no_suspend(|| baton.wait());
    });
}

#[test]
fn its_traits_are_as_they_should_be() {
    static BATON: Baton = Baton::new();
    fn is_free<T: UnwindSafe + RefUnwindSafe + Send + Sync>() {}
    is_free::<Baton>();
    std::thread::spawn(|| BATON.post());
    BATON.wait();
    assert_eq!(
        format!("{BATON:?} {:?}", Baton::default()),
        "Baton { is_ready: true } Baton { is_ready: false }"
    );
}
