//! Semaphores.

use super::super::crowd::in_crowds;
use super::super::support::{Random, everywhere, message, pinned, quiet_panic, refused};
use sinew::fiber;
use sinew::sync::{AcquireError, Semaphore, SemaphorePermit, TryAcquireError};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[test]
fn at_most_so_many_have_permits() {
    in_crowds(|crowd| {
        let (semaphore, used) = (Arc::new(Semaphore::new(5)), Arc::new(AtomicUsize::new(0)));
        let copy = semaphore.clone();
        crowd.all(8, move |number| {
            let mut random = Random::new(number as u64);
            for _ in 0..40 {
                let many = random.below(5) as usize + 1;
                let permit = copy.acquire_many(many).unwrap();
                assert!(used.fetch_add(many, Ordering::Relaxed) + many <= 5);
                fiber::yield_now();
                used.fetch_sub(many, Ordering::Relaxed);
                drop(permit);
            }
        });
        assert_eq!(semaphore.available_permits(), 5);
    });
}

/// Waits until a waiter is in line that asks for more permits than are available.
fn until_somebody_waits(semaphore: &Semaphore) {
    while semaphore.try_acquire().is_ok() {
        fiber::yield_now();
    }
}

#[test]
fn a_big_batch_is_not_overtaken() {
    in_crowds(|crowd| {
        let (semaphore, log) = (Arc::new(Semaphore::new(2)), Arc::new(Mutex::new(Vec::new())));
        let asks = |number: usize, permits: usize| {
            let (semaphore, log) = (semaphore.clone(), log.clone());
            crowd.spawn(number, move || {
                let permit = semaphore.acquire_many(permits).unwrap();
                log.lock().unwrap().push(number);
                drop(permit);
            })
        };
        let big = asks(0, 3);
        until_somebody_waits(&semaphore);
        assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::NoPermits);
        assert_eq!(semaphore.available_permits(), 2);
        // A request for no permits succeeds at once, even if a waiter is in line.
        assert_eq!(semaphore.try_acquire_many(0).unwrap().num_permits(), 0);
        let small = [asks(1, 1), asks(2, 1)];
        (0..20).for_each(|_| fiber::yield_now());
        assert!(log.lock().unwrap().is_empty());
        semaphore.release(1);
        big.join();
        small.into_iter().for_each(|member| member.join());
        assert_eq!(log.lock().unwrap()[0], 0);
        assert_eq!(semaphore.available_permits(), 3);
    });
}

#[test]
fn one_whose_time_is_over_lets_those_behind_it_go_on() {
    in_crowds(|crowd| {
        let semaphore = Arc::new(Semaphore::new(2));
        let copy = semaphore.clone();
        let first = crowd.spawn(0, move || {
            let permit = copy.try_acquire_many_for(3, Duration::from_millis(2));
            permit.map(SemaphorePermit::forget).unwrap_err()
        });
        while !first.is_finished() && semaphore.try_acquire().is_ok() {
            fiber::yield_now();
        }
        let copy = semaphore.clone();
        let behind = crowd.spawn(1, move || copy.acquire_many(2).unwrap().num_permits());
        assert_eq!(first.join(), TryAcquireError::NoPermits);
        assert_eq!(behind.join(), 2);
        assert_eq!(semaphore.available_permits(), 2);
    });
}

#[test]
fn one_that_is_cancelled_lets_those_behind_it_go_on() {
    everywhere(|| {
        let semaphore = Arc::new(Semaphore::new(2));
        let copy = semaphore.clone();
        let first = fiber::spawn(move || copy.acquire_many_cancellable(3).map(|_| ()));
        until_somebody_waits(&semaphore);
        let copy = semaphore.clone();
        let behind = fiber::spawn(move || copy.acquire_many(2).unwrap().num_permits());
        (0..20).for_each(|_| fiber::yield_now());
        assert!(!behind.is_finished());
        first.cancel_with_reason("enough");
        assert_eq!(first.join().unwrap().unwrap_err().reason(), Some("enough"));
        assert_eq!(behind.join().unwrap(), 2);
        assert_eq!(semaphore.available_permits(), 2);
    });
}

#[test]
fn a_wait_ends_at_its_time() {
    in_crowds(|crowd| {
        let semaphore = Arc::new(Semaphore::new(1));
        let copy = semaphore.clone();
        crowd.all(4, move |number| {
            let outcome = match number {
                0 => copy.try_acquire_many_for(2, Duration::ZERO),
                1 => copy.try_acquire_many_for(2, Duration::from_micros(200)),
                2 => copy.try_acquire_many_until(2, Instant::now()),
                _ => copy.try_acquire_many_until(2, Instant::now() + Duration::from_millis(1)),
            };
            assert_eq!(outcome.unwrap_err(), TryAcquireError::NoPermits);
        });
        assert!(semaphore.try_acquire_for(Duration::ZERO).is_ok());
        assert!(semaphore.try_acquire_until(Instant::now()).is_ok());
        let copy = semaphore.clone();
        let patient =
            crowd.spawn(1, move || copy.try_acquire_many_for(2, Duration::MAX).unwrap().num_permits());
        semaphore.add_permits(1);
        assert_eq!(patient.join(), 2);
        assert_eq!(semaphore.available_permits(), 2);
    });
}

/// Some waiters give up, at any point of being served.
#[test]
fn giving_up_loses_no_permit() {
    in_crowds(|crowd| {
        let semaphore = Arc::new(Semaphore::new(3));
        let copy = semaphore.clone();
        let had: usize = crowd
            .all(8, move |number| {
                let mut random = Random::new(number as u64 + 1);
                let tries = (0..60).filter(|_| {
                    let (many, time) =
                        (random.below(3) as usize + 1, Duration::from_micros(random.below(30)));
                    let permit = match number % 2 {
                        0 => copy.acquire_many(many).map_err(|_: AcquireError| ()),
                        _ => copy.try_acquire_many_for(many, time).map_err(|_| ()),
                    };
                    fiber::yield_now();
                    permit.is_ok()
                });
                tries.count()
            })
            .into_iter()
            .sum();
        assert_eq!(semaphore.available_permits(), 3);
        assert!(had >= 240, "those who wait for ever come to their end");
    });
}

/// A fiber is cancelled while it is handed a permit: it gets the permit, or another waiter does.
#[test]
fn a_cancel_that_meets_the_hand_over_loses_nothing() {
    everywhere(|| {
        let (semaphore, had) = (Arc::new(Semaphore::new(1)), Arc::new(AtomicUsize::new(0)));
        for round in 0..100 {
            let permit = semaphore.acquire().unwrap();
            let waiter = || {
                let (semaphore, had) = (semaphore.clone(), had.clone());
                fiber::spawn(move || match semaphore.acquire_cancellable() {
                    Ok(permit) => {
                        had.fetch_add(1, Ordering::Relaxed);
                        drop(permit.unwrap());
                    }
                    Err(stopped) => assert!(stopped.is_cancelled()),
                })
            };
            let (first, others) = (Arc::new(waiter()), [waiter(), waiter()]);
            (0..round % 3).for_each(|_| fiber::yield_now());
            let copy = first.clone();
            let canceller = fiber::spawn(move || copy.cancel());
            drop(permit);
            canceller.join().unwrap();
            Arc::into_inner(first).unwrap().join().unwrap();
            others.into_iter().for_each(|waiter| waiter.join().unwrap());
            assert_eq!(semaphore.available_permits(), 1);
        }
        assert!(had.load(Ordering::Relaxed) >= 200);
    });
}

#[test]
fn whoever_waits_hears_that_it_is_closed() {
    in_crowds(|crowd| {
        let semaphore = Arc::new(Semaphore::new(1));
        let permit = semaphore.acquire().unwrap();
        let members: Vec<_> = (0..20)
            .map(|number| {
                let semaphore = semaphore.clone();
                crowd.spawn(number, move || {
                    semaphore.acquire_many(number % 3 + 1).map(SemaphorePermit::forget)
                })
            })
            .collect();
        fiber::yield_now();
        semaphore.close();
        members.into_iter().for_each(|member| assert!(member.join().is_err()));
        drop(permit);
        assert!(semaphore.is_closed() && semaphore.available_permits() == 1);
        assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::Closed);
        assert_eq!(semaphore.try_acquire_for(Duration::MAX).unwrap_err(), TryAcquireError::Closed);
        assert!(semaphore.acquire_cancellable().unwrap().is_err());
        semaphore.add_permits(1);
        assert!(semaphore.acquire().is_err());
    });
}

#[test]
fn more_permits_than_there_can_be_are_a_panic_and_change_nothing() {
    const MOST: usize = Semaphore::MAX_PERMITS;
    let panics = |call: &dyn Fn()| {
        let panic = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
        assert!(message(&*panic).contains("MAX_PERMITS"), "{}", message(&*panic));
    };
    let semaphore = Semaphore::new(MOST);
    panics(&|| drop(Semaphore::new(MOST + 1)));
    panics(&|| semaphore.add_permits(1));
    panics(&|| semaphore.release(usize::MAX));
    panics(&|| drop(semaphore.acquire_many(MOST + 1)));
    panics(&|| drop(semaphore.try_acquire_many(usize::MAX)));
    // Acquired permits count too: their owner releases them later, which must not fail.
    let permits = semaphore.acquire_many(MOST).unwrap();
    panics(&|| semaphore.add_permits(1));
    drop(permits);
    assert_eq!(semaphore.available_permits(), MOST);
    semaphore.acquire_many(2).unwrap().forget();
    semaphore.add_permits(2);
    assert_eq!(semaphore.available_permits(), MOST);
}

#[test]
fn permits_are_forgotten_split_and_merged() {
    let (semaphore, other) = (Semaphore::new(5), Semaphore::new(1));
    let mut permits = semaphore.acquire_many(4).unwrap();
    assert!(permits.split(5).is_none());
    let mut half = permits.split(2).unwrap();
    assert_eq!((permits.num_permits(), half.num_permits()), (2, 2));
    assert_eq!(format!("{half:?}"), "SemaphorePermit { permits: 2, .. }");
    half.split(1).unwrap().forget();
    permits.merge(half);
    assert_eq!((permits.num_permits(), semaphore.available_permits()), (3, 1));
    let foreign = other.acquire().unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| permits.merge(foreign))).unwrap_err();
    assert!(message(&*panic).contains("two semaphores"));
    assert_eq!((permits.num_permits(), other.available_permits()), (3, 1));
    drop(permits);
    assert_eq!(semaphore.available_permits(), 4);
    assert_eq!((semaphore.forget_permits(3), semaphore.forget_permits(3)), (3, 1));
    assert_eq!(format!("{semaphore:?}"), "Semaphore { available_permits: 0, is_closed: false }");
    assert_eq!(Semaphore::default().available_permits(), 0);
}

#[test]
fn a_permit_may_be_given_back_by_another() {
    static SEMAPHORE: Semaphore = Semaphore::new(1);
    in_crowds(|crowd| {
        let _one_at_a_time = SEMAPHORE.acquire().unwrap();
        let binary = Arc::new(Semaphore::new(0));
        let copy = binary.clone();
        let waits = crowd.spawn(0, move || copy.acquire().unwrap().forget());
        crowd.spawn(1, move || binary.release(1)).join();
        waits.join();
    });
    let permit = SEMAPHORE.acquire().unwrap();
    std::thread::spawn(move || drop(permit)).join().unwrap();
    assert_eq!(SEMAPHORE.available_permits(), 1);
}

#[test]
fn a_panic_gives_permits_back() {
    in_crowds(|crowd| {
        let semaphore = Arc::new(Semaphore::new(1));
        let copy = semaphore.clone();
        let panics = crowd.spawn(1, move || {
            let _permit = copy.acquire().unwrap();
            quiet_panic("with a permit");
        });
        assert!(panics.try_join().is_err());
        drop(semaphore.acquire().unwrap());
    });
}

#[test]
fn a_wait_inside_no_suspend_panics_and_leaves_no_trace() {
    let runtime = pinned(1);
    runtime.run(|| {
        let semaphore = Semaphore::new(1);
        refused(|| drop(semaphore.acquire_many(2)));
        // No waiter is in line.
        fiber::no_suspend(|| drop(semaphore.acquire().unwrap()));
    });
}

#[test]
fn its_traits_are_as_they_should_be() {
    fn is_free<T: UnwindSafe + RefUnwindSafe + Send + Sync>() {}
    is_free::<Semaphore>();
    is_free::<SemaphorePermit<'_>>();
    assert_eq!(Semaphore::new(0).try_acquire().unwrap_err().to_string().split(' ').next(), Some("the"));
}
