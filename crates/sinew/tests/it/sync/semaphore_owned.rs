//! Permits that own their semaphore.

use super::super::crowd::in_crowds;
use super::super::support::{everywhere, message, pinned, refused};
use sinew::fiber;
use sinew::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Permits are acquired by one member and released by another, which outlives every borrow.
#[test]
fn at_most_so_many_are_held_wherever_they_go() {
    in_crowds(|crowd| {
        let (semaphore, used) = (Arc::new(Semaphore::new(3)), Arc::new(AtomicUsize::new(0)));
        let copy = semaphore.clone();
        crowd.all(6, move |number| {
            for round in 0..20 {
                let many = (number + round) % 3 + 1;
                let permit = copy.clone().acquire_many_owned(many).unwrap();
                assert!(used.fetch_add(many, Ordering::Relaxed) + many <= 3);
                let used = used.clone();
                let releases = crowd.spawn(number + round, move || {
                    fiber::yield_now();
                    used.fetch_sub(permit.num_permits(), Ordering::Relaxed);
                    drop(permit);
                });
                releases.join();
            }
        });
        assert_eq!(semaphore.available_permits(), 3);
        assert_eq!(Arc::strong_count(&semaphore), 1);
    });
}

/// The permit is all that is left of its semaphore.
#[test]
fn a_permit_keeps_its_semaphore() {
    let semaphore = Arc::new(Semaphore::new(2));
    let weak = Arc::downgrade(&semaphore);
    let mut permit = semaphore.acquire_many_owned(2).unwrap();
    let half = permit.split(1).unwrap();
    drop(permit);
    assert_eq!(half.semaphore().available_permits(), 1);
    drop(half);
    assert!(weak.upgrade().is_none());
}

/// Borrowed and owned permits are served by one queue, in order.
#[test]
fn owned_waiters_wait_in_line_with_others() {
    everywhere(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        let copy = semaphore.clone();
        let big = fiber::spawn(move || copy.acquire_many_owned(2).map(|permit| permit.num_permits()));
        while semaphore.try_acquire().is_ok() {
            fiber::yield_now();
        }
        let no_permits = TryAcquireError::NoPermits;
        assert_eq!(semaphore.clone().try_acquire_owned().unwrap_err(), no_permits);
        assert_eq!(semaphore.clone().try_acquire_owned_for(Duration::ZERO).unwrap_err(), no_permits);
        assert_eq!(semaphore.clone().try_acquire_owned_until(Instant::now()).unwrap_err(), no_permits);
        semaphore.add_permits(1);
        assert_eq!(big.join().unwrap(), Ok(2));
        assert_eq!(semaphore.available_permits(), 2);
    });
}

#[test]
fn a_wait_ends_at_its_time_or_by_a_cancel() {
    everywhere(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        let time = Duration::from_micros(200);
        let timed_out = semaphore.clone().try_acquire_many_owned_for(2, time);
        assert_eq!(timed_out.unwrap_err(), TryAcquireError::NoPermits);
        let timed_out = semaphore.clone().try_acquire_many_owned_until(2, Instant::now() + time);
        assert_eq!(timed_out.unwrap_err(), TryAcquireError::NoPermits);
        let permit = semaphore.clone().acquire_owned_cancellable().unwrap().unwrap();
        let copy = semaphore.clone();
        let waits = fiber::spawn(move || copy.acquire_many_owned_cancellable(1).map(drop));
        fiber::yield_now();
        waits.cancel_with_reason("enough");
        assert_eq!(waits.join().unwrap().unwrap_err().reason(), Some("enough"));
        assert_eq!(Arc::strong_count(&semaphore), 2, "a wait that ended early keeps no reference");
        drop(permit);
        assert_eq!(semaphore.available_permits(), 1);
    });
}

#[test]
fn waiters_hear_that_it_is_closed() {
    in_crowds(|crowd| {
        let semaphore = Arc::new(Semaphore::new(0));
        let members: Vec<_> = (0..10)
            .map(|number| {
                let semaphore = semaphore.clone();
                crowd.spawn(number, move || semaphore.acquire_many_owned(number % 3 + 1).map(drop))
            })
            .collect();
        fiber::yield_now();
        semaphore.close();
        members.into_iter().for_each(|member| assert!(member.join().is_err()));
        assert_eq!(semaphore.clone().try_acquire_owned().unwrap_err(), TryAcquireError::Closed);
        assert!(semaphore.clone().acquire_owned_cancellable().unwrap().is_err());
        assert!(semaphore.acquire_owned().is_err());
    });
}

#[test]
fn permits_are_forgotten_split_and_merged() {
    let (semaphore, other) = (Arc::new(Semaphore::new(5)), Arc::new(Semaphore::new(1)));
    let mut permits = semaphore.clone().try_acquire_many_owned(4).unwrap();
    assert!(permits.split(5).is_none());
    let mut half = permits.split(2).unwrap();
    assert_eq!((permits.num_permits(), half.num_permits()), (2, 2));
    assert_eq!(format!("{half:?}"), "OwnedSemaphorePermit { permits: 2, .. }");
    half.split(1).unwrap().forget();
    permits.merge(half);
    assert_eq!((permits.num_permits(), semaphore.available_permits()), (3, 1));
    let foreign = other.clone().acquire_owned().unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| permits.merge(foreign))).unwrap_err();
    assert!(message(&*panic).contains("two semaphores"));
    assert_eq!((permits.num_permits(), other.available_permits()), (3, 1));
    drop(permits);
    assert_eq!((semaphore.available_permits(), Arc::strong_count(&semaphore)), (4, 1));
}

#[test]
fn a_wait_inside_no_suspend_panics_and_leaves_no_trace() {
    let runtime = pinned(1);
    runtime.run(|| {
        let semaphore = Arc::new(Semaphore::new(1));
        refused(|| drop(semaphore.clone().acquire_many_owned(2)));
        fiber::no_suspend(|| drop(semaphore.clone().acquire_owned().unwrap()));
        assert_eq!(Arc::strong_count(&semaphore), 1);
    });
}

#[test]
fn its_traits_are_as_they_should_be() {
    fn is_free<T: UnwindSafe + RefUnwindSafe + Send + Sync + 'static>() {}
    is_free::<OwnedSemaphorePermit>();
}
