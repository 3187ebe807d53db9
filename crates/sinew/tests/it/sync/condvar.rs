//! Conditions.

use super::super::crowd::{as_std, in_crowds};
use super::super::support::{everywhere, quiet_panic};
use sinew::fiber;
use sinew::sync::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

as_std! {
    fn two_pass_a_flag_to_and_fro(crowd) {
        let pair = sync::Arc::new((sync::Mutex::new(0), sync::Condvar::new()));
        let copy = pair.clone();
        crowd.all(2, move |number| {
            for _ in 0..100 {
                let mut turn = copy.0.lock().unwrap();
                while *turn % 2 != number {
                    turn = copy.1.wait(turn).unwrap();
                }
                *turn += 1;
                copy.1.notify_one();
            }
        });
        assert_eq!(*pair.0.lock().unwrap(), 200);
    }

    fn all_are_told(crowd) {
        let pair = sync::Arc::new((sync::Mutex::new((0, false)), sync::Condvar::new()));
        let copy = pair.clone();
        let waiters: Vec<_> = (0..20)
            .map(|number| {
                let pair = copy.clone();
                crowd.spawn(number, move || {
                    let mut guard = pair.0.lock().unwrap();
                    guard.0 += 1;
                    pair.1.notify_all();
                    assert!(pair.1.wait_while(guard, |state| !state.1).unwrap().1);
                })
            })
            .collect();
        let mut all = pair.1.wait_while(pair.0.lock().unwrap(), |state| state.0 < 20).unwrap();
        all.1 = true;
        drop(all);
        pair.1.notify_all();
        waiters.into_iter().for_each(|waiter| waiter.join());
    }

    fn a_wait_ends_at_its_time_and_says_so(_crowd) {
        use std::time::Duration;
        let (mutex, condvar) = (sync::Mutex::new(0), sync::Condvar::new());
        for time in [Duration::ZERO, Duration::from_micros(300)] {
            // A wait without a condition may end early, by a spurious wake-up.
            let (guard, outcome) = condvar.wait_timeout_while(mutex.lock().unwrap(), time, |_| true).unwrap();
            assert!(outcome.timed_out());
            drop(guard);
            let (guard, _) = condvar.wait_timeout(mutex.lock().unwrap(), time).unwrap();
            drop(guard);
            let (guard, outcome) = condvar.wait_timeout_while(mutex.lock().unwrap(), time, |_| false).unwrap();
            assert!(!outcome.timed_out());
            drop(guard);
        }
        assert_eq!(format!("{condvar:?}"), "Condvar { .. }");
        // No waiter receives these.
        condvar.notify_one();
        condvar.notify_all();
        let condvar: sync::Condvar = Default::default();
        condvar.notify_one();
    }

    fn the_longest_time_is_for_ever(crowd) {
        use std::time::Duration;
        let pair = sync::Arc::new((sync::Mutex::new(false), sync::Condvar::new()));
        let copy = pair.clone();
        let waiter = crowd.spawn(1, move || {
            let guard = copy.0.lock().unwrap();
            let (guard, outcome) = copy.1.wait_timeout_while(guard, Duration::MAX, |is_set| !*is_set).unwrap();
            *guard && !outcome.timed_out()
        });
        *pair.0.lock().unwrap() = true;
        pair.1.notify_one();
        assert!(waiter.join());
    }

    fn whoever_waits_hears_of_poison(crowd) {
        let pair = sync::Arc::new((sync::Mutex::new(0), sync::Condvar::new()));
        let copy = pair.clone();
        let waiter = crowd.spawn(0, move || {
            let mut guard = copy.0.lock().unwrap();
            *guard = 1;
            loop {
                match copy.1.wait(guard) {
                    Ok(again) => guard = again,
                    Err(poisoned) => return *poisoned.into_inner(),
                }
            }
        });
        let copy = pair.clone();
        let panicked = crowd.spawn(1, move || loop {
            let mut guard = copy.0.lock().unwrap();
            if *guard == 1 {
                *guard = 2;
                copy.1.notify_all();
                quiet_panic("with the guard");
            }
            drop(guard);
            thread::yield_now();
        });
        assert!(panicked.try_join().is_err());
        assert_eq!(waiter.join(), 2);
    }
}

#[test]
fn cancellation_ends_a_wait_that_can_say_so() {
    everywhere(|| {
        let pair = Arc::new((Mutex::new(1), Condvar::new()));
        let copy = pair.clone();
        let waits = fiber::spawn(move || {
            let mut guard = copy.0.lock().unwrap();
            loop {
                let (again, outcome) = copy.1.wait_cancellable(guard).unwrap();
                guard = again;
                if let Err(stopped) = outcome {
                    return (*guard, stopped);
                }
            }
        });
        fiber::yield_now();
        waits.cancel();
        let (value, stopped) = waits.join().unwrap();
        assert!(value == 1 && stopped.is_cancelled());
        // One that was cancelled before it waits has the guard too.
        let copy = pair.clone();
        let late = fiber::spawn(move || {
            while !fiber::is_cancelled() {
                fiber::yield_now();
            }
            let (guard, outcome) = copy.1.wait_cancellable(copy.0.lock().unwrap()).unwrap();
            assert!(outcome.is_err());
            *guard
        });
        late.cancel();
        assert_eq!(late.join().unwrap(), 1);
        assert!(pair.0.try_lock().is_ok());
    });
}

/// Each notification is for one waiter. A waiter that gives up takes none with it.
#[test]
fn a_notification_is_not_lost_to_one_who_gives_up() {
    in_crowds(|crowd| {
        // Permits, those who took one, and whether there will be no more.
        let pair = Arc::new((Mutex::new((0_usize, 0_usize)), Condvar::new()));
        let over = Arc::new(AtomicBool::new(false));
        let hasty: Vec<_> = (0..3)
            .map(|number| {
                let (pair, over) = (pair.clone(), over.clone());
                crowd.spawn(number, move || {
                    while !over.load(Ordering::Relaxed) {
                        let guard = pair.0.lock().unwrap();
                        let time = std::time::Duration::from_micros(10);
                        let (mut guard, _) = pair.1.wait_timeout(guard, time).unwrap();
                        if guard.0 > 0 {
                            *guard = (guard.0 - 1, guard.1 + 1);
                        }
                    }
                })
            })
            .collect();
        let copy = pair.clone();
        let patient = crowd.spawn(1, move || {
            let mut guard = copy.0.lock().unwrap();
            while guard.1 < 100 {
                guard = copy.1.wait(guard).unwrap();
                if guard.0 > 0 {
                    *guard = (guard.0 - 1, guard.1 + 1);
                }
            }
        });
        for _ in 0..100 {
            let mut guard = pair.0.lock().unwrap();
            guard.0 += 1;
            drop(guard);
            pair.1.notify_one();
            fiber::yield_now();
        }
        // Some of the notifications found no waiter: notify again, for waiters that came later.
        while pair.0.lock().unwrap().1 < 100 {
            pair.1.notify_one();
            fiber::yield_now();
        }
        pair.1.notify_all();
        patient.join();
        over.store(true, Ordering::Relaxed);
        hasty.into_iter().for_each(|member| member.join());
    });
}

#[test]
fn one_condition_serves_two_mutexes() {
    everywhere(|| {
        let all = Arc::new((Mutex::new(false), Mutex::new(false), Condvar::new()));
        let copy = all.clone();
        let one = fiber::spawn(move || drop(copy.2.wait_while(copy.0.lock().unwrap(), |is_set| !*is_set)));
        let copy = all.clone();
        let two = fiber::spawn(move || drop(copy.2.wait_while(copy.1.lock().unwrap(), |is_set| !*is_set)));
        fiber::yield_now();
        *all.0.lock().unwrap() = true;
        *all.1.lock().unwrap() = true;
        all.2.notify_all();
        one.join().unwrap();
        two.join().unwrap();
    });
}
