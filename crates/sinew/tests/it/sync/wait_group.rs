//! Wait groups.

use super::super::crowd::in_crowds;
use super::super::support::{everywhere, message, pinned, quiet_panic, refused};
use sinew::fiber;
use sinew::sync::{WaitGroup, WaitGroupGuard};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[test]
fn all_work_is_waited_for_again_and_again() {
    in_crowds(|crowd| {
        let (group, done) = (Arc::new(WaitGroup::new()), Arc::new(AtomicUsize::new(0)));
        for round in 1..=10 {
            group.add(3);
            let workers: Vec<_> = (0..3)
                .map(|number| {
                    let (group, done) = (group.clone(), done.clone());
                    crowd.spawn(number, move || {
                        // Work may bring more work.
                        let more = WaitGroup::guard(&*group);
                        fiber::yield_now();
                        done.fetch_add(1, Ordering::Relaxed);
                        group.done();
                        drop(more);
                    })
                })
                .collect();
            group.wait();
            assert_eq!(done.load(Ordering::Relaxed), round * 3);
            workers.into_iter().for_each(|worker| worker.join());
        }
        assert!(group.try_wait());
    });
}

/// Waiters continue even if there is work again before they have run.
#[test]
fn it_may_be_used_again_at_once() {
    in_crowds(|crowd| {
        let group = Arc::new(WaitGroup::new());
        group.add(1);
        let waiters: Vec<_> = (0..20)
            .map(|number| {
                let group = group.clone();
                crowd.spawn(number, move || group.wait())
            })
            .collect();
        (0..20).for_each(|_| fiber::yield_now());
        group.done();
        group.add(1);
        assert!(!group.try_wait());
        // Some may not have waited before.
        group.done();
        waiters.into_iter().for_each(|waiter| waiter.join());
    });
}

#[test]
fn a_panic_with_a_guard_lets_nobody_wait() {
    in_crowds(|crowd| {
        let group = Arc::new(WaitGroup::new());
        let guard = WaitGroup::guard(group.clone());
        let panics = crowd.spawn(1, move || {
            let _guard = guard;
            quiet_panic("with a guard");
        });
        group.wait();
        assert!(panics.try_join().is_err());
    });
}

#[test]
fn a_wait_ends_at_its_time() {
    in_crowds(|crowd| {
        let group = Arc::new(WaitGroup::new());
        let guard = WaitGroup::guard(&*group);
        let copy = group.clone();
        crowd.all(4, move |number| {
            let is_done = match number {
                0 => copy.wait_timeout(Duration::ZERO),
                1 => copy.wait_timeout(Duration::from_micros(200)),
                2 => copy.wait_until(Instant::now()),
                _ => copy.wait_until(Instant::now() + Duration::from_millis(1)),
            };
            assert!(!is_done);
        });
        let copy = group.clone();
        let patient = crowd.spawn(1, move || copy.wait_timeout(Duration::MAX));
        drop(guard);
        assert!(patient.join() && group.wait_timeout(Duration::ZERO));
    });
}

#[test]
fn cancellation_ends_a_wait_that_can_say_so() {
    everywhere(|| {
        let group = Arc::new(WaitGroup::new());
        group.add(1);
        let copy = group.clone();
        let waits = fiber::spawn(move || copy.wait_cancellable());
        fiber::yield_now();
        waits.cancel();
        assert!(waits.join().unwrap().unwrap_err().is_cancelled());
        group.done();
        group.wait_cancellable().unwrap();
    });
}

#[test]
fn counting_too_far_is_a_panic_and_changes_nothing() {
    let group = WaitGroup::new();
    let panics = |call: &dyn Fn(), what: &str| {
        let panic = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
        assert!(message(&*panic).contains(what), "{}", message(&*panic));
    };
    panics(&|| group.done(), "more than was added");
    group.add(usize::MAX);
    panics(&|| group.add(1), "more to wait for");
    panics(&|| drop(WaitGroup::guard(&group)), "more to wait for");
    (0..2).for_each(|_| group.done());
    group.add(2);
    assert!(!group.try_wait());
    // Another call has already counted the work of the guard as done.
    let group = WaitGroup::new();
    let guard = WaitGroup::guard(&group);
    group.done();
    let panic = catch_unwind(AssertUnwindSafe(|| drop(guard))).unwrap_err();
    assert!(message(&*panic).contains("more than was added"));
    let guard = WaitGroup::guard(&group);
    group.done();
    let both = || {
        let _guard = guard;
        panic!("one at a time");
    };
    assert_eq!(message(&*catch_unwind(AssertUnwindSafe(both)).unwrap_err()), "one at a time");
}

#[test]
fn a_wait_inside_no_suspend_panics_and_leaves_no_trace() {
    let runtime = pinned(1);
    runtime.run(|| {
        let group = WaitGroup::new();
        let guard = WaitGroup::guard(&group);
        refused(|| group.wait());
        drop(guard);
        fiber::no_suspend(|| group.wait());
    });
}

#[test]
fn its_traits_are_as_they_should_be() {
    static GROUP: WaitGroup = WaitGroup::new();
    fn is_free<T: UnwindSafe + RefUnwindSafe + Send + Sync>() {}
    is_free::<WaitGroup>();
    is_free::<WaitGroupGuard<Arc<WaitGroup>>>();
    let guard = WaitGroup::guard(&GROUP);
    assert_eq!(format!("{guard:?}"), "WaitGroupGuard { group: WaitGroup { left: 1 } }");
    std::thread::spawn(move || drop(guard));
    GROUP.wait();
    assert_eq!(format!("{:?}", WaitGroup::default()), "WaitGroup { left: 0 }");
}
