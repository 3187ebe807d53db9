//! Latches.

use super::super::crowd::in_crowds;
use super::super::support::{everywhere, message, pinned, refused};
use sinew::fiber;
use sinew::sync::Latch;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[test]
fn all_go_on_when_the_last_one_has_counted() {
    in_crowds(|crowd| {
        // More than are woken at once.
        let (latch, counted) = (Arc::new(Latch::new(40)), Arc::new(AtomicUsize::new(0)));
        let (copy, count) = (latch.clone(), counted.clone());
        crowd.all(40, move |number| {
            count.fetch_add(1, Ordering::Relaxed);
            if number % 3 == 0 {
                copy.count_down();
                copy.wait();
            } else {
                copy.arrive_and_wait();
            }
            assert_eq!(count.load(Ordering::Relaxed), 40);
        });
        assert!(latch.try_wait());
        latch.wait();
    });
}

#[test]
fn a_wait_ends_at_its_time() {
    in_crowds(|crowd| {
        let latch = Arc::new(Latch::new(3));
        let copy = latch.clone();
        crowd.all(4, move |number| {
            let is_open = match number {
                0 => copy.wait_timeout(Duration::ZERO),
                1 => copy.wait_timeout(Duration::from_micros(200)),
                2 => copy.wait_until(Instant::now()),
                _ => copy.wait_until(Instant::now() + Duration::from_millis(1)),
            };
            assert!(!is_open);
        });
        let copy = latch.clone();
        let patient = crowd.spawn(1, move || copy.wait_timeout(Duration::MAX));
        latch.count_down_by(2);
        assert!(!latch.try_wait());
        latch.count_down();
        assert!(patient.join() && latch.wait_timeout(Duration::ZERO) && latch.wait_until(Instant::now()));
    });
}

/// The latch opens while some waiters give up. The waiters that do not give up continue.
#[test]
fn giving_up_loses_no_wake_up() {
    in_crowds(|crowd| {
        for round in 0..20 {
            let latch = Arc::new(Latch::new(2));
            crowd.all(6, move |number| match number {
                0 | 1 => latch.count_down(),
                2 | 3 => latch.wait(),
                _ => {
                    let is_open = latch.wait_timeout(Duration::from_micros(round * 3));
                    assert!(!is_open || latch.try_wait());
                }
            });
        }
    });
}

#[test]
fn cancellation_ends_a_wait_that_can_say_so() {
    everywhere(|| {
        let latch = Arc::new(Latch::new(1));
        let copy = latch.clone();
        let waits = fiber::spawn(move || copy.wait_cancellable());
        let copy = latch.clone();
        let deaf = fiber::spawn(move || copy.wait());
        fiber::yield_now();
        waits.cancel();
        deaf.cancel();
        assert!(waits.join().unwrap().unwrap_err().is_cancelled());
        latch.count_down();
        deaf.join().unwrap();
        latch.wait_cancellable().unwrap();
    });
}

#[test]
fn counting_down_too_far_is_a_panic_and_changes_nothing() {
    let latch = Latch::new(2);
    let panics = |call: &dyn Fn()| {
        let panic = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
        assert!(message(&*panic).contains("more than is left"), "{}", message(&*panic));
    };
    panics(&|| latch.count_down_by(3));
    panics(&|| latch.count_down_by(usize::MAX));
    latch.count_down_by(0);
    assert!(!latch.try_wait());
    latch.count_down_by(2);
    latch.count_down_by(0);
    panics(&|| latch.count_down());
    panics(&|| latch.arrive_and_wait());
    assert!(latch.try_wait());
    Latch::new(0).wait();
    Latch::new(usize::MAX).count_down();
}

#[test]
fn a_wait_inside_no_suspend_panics_and_leaves_no_trace() {
    let runtime = pinned(1);
    runtime.run(|| {
        let latch = Latch::new(1);
        for call in [Latch::wait, Latch::arrive_and_wait] {
            refused(|| call(&latch));
        }
        latch.count_down();
        fiber::no_suspend(|| latch.wait());
    });
}

#[test]
fn its_traits_are_as_they_should_be() {
    static LATCH: Latch = Latch::new(1);
    fn is_free<T: UnwindSafe + RefUnwindSafe + Send + Sync>() {}
    is_free::<Latch>();
    assert_eq!(format!("{LATCH:?}"), "Latch { left: 1 }");
    LATCH.count_down();
    std::thread::spawn(|| LATCH.wait()).join().unwrap();
}
