//! Waiting for locks for readers and writers: limits, cancellation, who comes first.

use super::super::crowd::in_crowds;
use super::super::support::{everywhere, pinned, refused};
use sinew::fiber;
use sinew::sync::{RwLock, RwLockWriteGuard};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, TryLockError};
use std::time::{Duration, Instant};

#[test]
fn a_wait_ends_at_its_time() {
    in_crowds(|crowd| {
        let lock = Arc::new(RwLock::new(1));
        let guard = lock.write().unwrap();
        let copy = lock.clone();
        crowd.all(8, move |number| {
            let time = Duration::from_micros([0, 200, 0, 1_000][number % 4]);
            let until = Instant::now() + time;
            let is_over = match (number < 4, number % 4 < 2) {
                (true, true) => matches!(copy.try_read_for(time), Err(TryLockError::WouldBlock)),
                (true, false) => matches!(copy.try_read_until(until), Err(TryLockError::WouldBlock)),
                (false, true) => matches!(copy.try_write_for(time), Err(TryLockError::WouldBlock)),
                (false, false) => matches!(copy.try_write_until(until), Err(TryLockError::WouldBlock)),
            };
            assert!(is_over);
        });
        let (copy, other) = (lock.clone(), lock.clone());
        let writer = crowd.spawn(1, move || *copy.try_write_for(Duration::MAX).unwrap());
        let reader = crowd.spawn(0, move || *other.try_read_for(Duration::MAX).unwrap());
        drop(guard);
        assert_eq!((writer.join(), reader.join()), (1, 1));
        // Waiters that gave up leave nothing behind.
        assert_eq!(*lock.try_write().unwrap(), 1);
    });
}

/// A reader has the lock all the time. Readers that wait behind a writer get in when the writer has
/// given up, or before.
#[test]
fn a_writer_that_gives_up_keeps_nobody_out() {
    in_crowds(|crowd| {
        let lock = Arc::new(RwLock::new(1));
        let guard = lock.read().unwrap();
        let copy = lock.clone();
        crowd.all(6, move |number| {
            for round in 0..10 {
                if number < 2 {
                    assert!(copy.try_write_for(Duration::from_micros(round * 300)).is_err());
                } else {
                    let guard = copy.read().unwrap();
                    fiber::yield_now();
                    assert_eq!(*guard, 1);
                }
            }
        });
        drop(guard);
        assert!(lock.try_write().is_ok());
    });
}

#[test]
fn cancellation_ends_a_wait_that_can_say_so() {
    everywhere(|| {
        let lock = Arc::new(RwLock::new(1));
        let guard = lock.write().unwrap();
        let (copy, other) = (lock.clone(), lock.clone());
        let reader = fiber::spawn(move || copy.read_cancellable().map(|guard| *guard.unwrap()));
        let writer = fiber::spawn(move || other.write_cancellable().map(|guard| *guard.unwrap()));
        fiber::yield_now();
        for waits in [reader, writer] {
            waits.cancel_with_reason("enough");
            assert_eq!(waits.join().unwrap().unwrap_err().reason(), Some("enough"));
        }
        let (copy, other) = (lock.clone(), lock.clone());
        let deaf =
            [fiber::spawn(move || *copy.read().unwrap()), fiber::spawn(move || *other.write().unwrap())];
        deaf.iter().for_each(|deaf| deaf.cancel());
        drop(guard);
        deaf.into_iter().for_each(|deaf| assert_eq!(deaf.join().unwrap(), 1));
    });
}

/// A fiber is cancelled while it is woken or handed the lock: it gets the lock, or another waiter
/// does.
#[test]
fn a_cancel_that_meets_the_hand_over_loses_nothing() {
    everywhere(|| {
        let lock = Arc::new(RwLock::new(0));
        for round in 0..100 {
            let guard = lock.write().unwrap();
            let waiter = |writes: bool| {
                let lock = lock.clone();
                fiber::spawn(move || match writes {
                    true => lock.write_cancellable().map(|guard| *guard.unwrap() += 1).is_ok(),
                    false => lock.read_cancellable().map(|guard| drop(guard.unwrap())).is_ok(),
                })
            };
            let first = Arc::new(waiter(round % 2 == 0));
            let others = [waiter(true), waiter(false), waiter(true)];
            (0..round % 3).for_each(|_| fiber::yield_now());
            let copy = first.clone();
            let canceller = fiber::spawn(move || copy.cancel());
            drop(guard);
            canceller.join().unwrap();
            Arc::into_inner(first).unwrap().join().unwrap();
            others.into_iter().for_each(|waiter| assert!(waiter.join().unwrap()));
            assert!(lock.try_write().is_ok());
        }
        assert!(*lock.read().unwrap() >= 200);
    });
}

/// A waiter is woken, and cancelled before it has run. Another fiber has the lock again by then, so
/// the waiter stops. The other waiters must not rely on it to wake them.
#[test]
fn one_that_is_stopped_awake_leaves_its_turn_to_others() {
    let runtime = pinned(1);
    for (first_writes, other_writes) in [(true, true), (true, false), (false, true), (false, false)] {
        runtime.run(move || {
            let lock = Arc::new(RwLock::new(0));
            let guard = lock.write().unwrap();
            let (copy, other) = (lock.clone(), lock.clone());
            // Each runs at once, until it waits.
            let builder = || fiber::Builder::new().launch(fiber::Launch::Dispatch);
            let first = builder().spawn(move || match first_writes {
                true => copy.write_cancellable().is_ok(),
                false => copy.read_cancellable().is_ok(),
            });
            let other = builder().spawn(move || match other_writes {
                true => drop(other.write().unwrap()),
                false => drop(other.read().unwrap()),
            });
            let (first, other) = (first.unwrap(), other.unwrap());
            drop(guard);
            let guard = lock.try_write().unwrap();
            first.cancel();
            assert!(!first.join().unwrap(), "it is stopped, since the lock is not to be had");
            drop(guard);
            other.join().unwrap();
            assert!(lock.try_write().is_ok());
        });
    }
}

/// Readers follow each other without a gap: the writers get it all the same.
#[test]
fn no_writer_starves() {
    in_crowds(|crowd| {
        let (lock, over) = (Arc::new(RwLock::new(0)), Arc::new(AtomicBool::new(false)));
        let readers: Vec<_> = (0..4)
            .map(|number| {
                let (lock, over) = (lock.clone(), over.clone());
                crowd.spawn(number, move || {
                    while !over.load(Ordering::Relaxed) {
                        let guard = lock.read().unwrap();
                        fiber::yield_now();
                        drop(guard);
                    }
                })
            })
            .collect();
        let copy = lock.clone();
        crowd.all(3, move |_| (0..5).for_each(|_| *copy.write().unwrap() += 1));
        over.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| reader.join());
        assert_eq!(*lock.try_read().unwrap(), 15);
    });
}

/// A writer waits for a reader that keeps the lock. No reader leaves, so the writer is not woken,
/// and new readers are let in however long it has waited. The first reader that leaves wakes the
/// writer, which then keeps new readers out.
#[test]
fn readers_come_in_beside_one_that_stays_until_one_leaves() {
    in_crowds(|crowd| {
        let lock = Arc::new(RwLock::new(0));
        let stays = lock.read().unwrap();
        let is_asked = Arc::new(AtomicBool::new(false));
        let (copy, asks) = (lock.clone(), is_asked.clone());
        let writer = crowd.spawn(1, move || {
            asks.store(true, Ordering::Relaxed);
            *copy.write().unwrap() += 1;
        });
        while !is_asked.load(Ordering::Relaxed) {
            fiber::yield_now();
        }
        // Longer than the writer's patience, if it waits already. The test is right in either case.
        fiber::sleep(Duration::from_millis(3));
        let beside: Vec<_> = (0..3).map(|_| lock.try_read().unwrap()).collect();
        drop(beside);
        // Each reader that leaves wakes the writer, which has waited long enough sooner or later.
        while lock.try_read().is_ok() {
            fiber::yield_now();
        }
        assert!(!writer.is_finished());
        drop(stays);
        writer.join();
        assert_eq!(*lock.read().unwrap(), 1);
    });
}

/// Writers take it again and again, without ever leaving it free for long: the readers get it all
/// the same.
#[test]
fn no_reader_starves() {
    in_crowds(|crowd| {
        let (lock, over) = (Arc::new(RwLock::new(0_usize)), Arc::new(AtomicBool::new(false)));
        let writers: Vec<_> = (0..3)
            .map(|number| {
                let (lock, over) = (lock.clone(), over.clone());
                crowd.spawn(number, move || {
                    while !over.load(Ordering::Relaxed) {
                        let mut guard = lock.write().unwrap();
                        fiber::yield_now();
                        *guard += 1;
                    }
                })
            })
            .collect();
        let copy = lock.clone();
        crowd.all(20, move |_| (0..5).for_each(|_| drop(copy.read().unwrap())));
        over.store(true, Ordering::Relaxed);
        writers.into_iter().for_each(|writer| writer.join());
        assert!(lock.try_write().is_ok());
    });
}

#[test]
fn a_fiber_keeps_its_guard_across_suspensions() {
    everywhere(|| {
        let lock = Arc::new(RwLock::new(0));
        let copy = lock.clone();
        let sleeper = fiber::spawn(move || {
            let mut guard = copy.write().unwrap();
            fiber::sleep(Duration::from_micros(100));
            *guard = 1;
            let guard = RwLockWriteGuard::downgrade(guard);
            fiber::sleep(Duration::from_micros(100));
            assert_eq!(*guard, 1);
        });
        while !sleeper.is_finished() && lock.try_read().is_ok() {
            fiber::yield_now();
        }
        assert_eq!(*lock.read().unwrap(), 1);
        sleeper.join().unwrap();
    });
}

#[test]
fn a_wait_inside_no_suspend_panics_and_leaves_no_trace() {
    let runtime = pinned(1);
    runtime.run(|| {
        let lock = Arc::new(RwLock::new(0));
        let guard = lock.write().unwrap();
        let copy = lock.clone();
        let waits = fiber::spawn(move || {
            let (read, write) = (|| drop(copy.read()), || drop(copy.write()));
            for wait in [&read as &dyn Fn(), &write] {
                refused(wait);
            }
            fiber::no_suspend(|| assert!(copy.try_read().is_err() && copy.try_write().is_err()));
        });
        waits.join().unwrap();
        drop(guard);
        fiber::no_suspend(|| *lock.write().unwrap() = 1);
        assert_eq!(*lock.try_write().unwrap(), 1);
    });
}
