//! Channels for the latest value: waits for a value, their limits, and borrows that are kept.

use super::super::crowd::in_crowds;
use super::super::support::{everywhere, pinned, refused};
use sinew::channel::watch::{self, RecvTimeoutError};
use sinew::fiber;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[test]
fn each_waits_for_the_value_that_it_wants() {
    in_crowds(|crowd| {
        let (sender, receiver) = watch::channel(0);
        let members: Vec<_> = (0..6)
            .map(|number| {
                let mut receiver = receiver.clone();
                crowd.spawn(number, move || {
                    let bound = number * 10;
                    let value = *receiver.wait_for(|value| *value >= bound).unwrap();
                    assert!(value >= bound && receiver.has_changed().is_ok());
                    drop(receiver);
                    value
                })
            })
            .collect();
        for value in 1..=50 {
            sender.send(value).unwrap();
            fiber::yield_now();
        }
        members.into_iter().for_each(|member| assert!(member.join() <= 50));
        let mut receiver = receiver;
        assert!(receiver.wait_for(|value| *value == 50).unwrap().has_changed());
        assert!(!receiver.wait_for(|value| *value == 50).unwrap().has_changed());
    });
}

/// The value that was waited for is new, though the call has seen others on the way.
#[test]
fn what_is_new_is_told_after_a_wait() {
    in_crowds(|crowd| {
        let (sender, mut receiver) = watch::channel(0);
        let sends = crowd.spawn(1, move || (1..=20).for_each(|value| sender.send(value).unwrap()));
        let value = receiver.wait_for(|value| *value == 20).unwrap();
        assert!(*value == 20 && value.has_changed());
        drop(value);
        sends.join();
        assert!(receiver.changed().is_err(), "it was seen");
    });
}

#[test]
fn all_who_wait_hear_of_the_end() {
    in_crowds(|crowd| {
        let (sender, receiver) = watch::channel(0);
        let members: Vec<_> = (0..10)
            .map(|number| {
                let mut receiver = receiver.clone();
                crowd.spawn(number, move || match number % 3 {
                    0 => receiver.changed().is_err(),
                    1 => receiver.wait_for(|value| *value == 1).is_err(),
                    _ => receiver.changed_cancellable().unwrap().is_err(),
                })
            })
            .collect();
        fiber::yield_now();
        drop((sender.clone(), sender));
        members.into_iter().for_each(|member| assert!(member.join()));
    });
}

#[test]
fn a_wait_ends_at_its_time() {
    in_crowds(|crowd| {
        let (sender, mut receiver) = watch::channel(0);
        let timeout = RecvTimeoutError::Timeout;
        for time in [Duration::ZERO, Duration::from_micros(200)] {
            assert_eq!(receiver.changed_timeout(time), Err(timeout));
            assert_eq!(receiver.changed_deadline(Instant::now() + time), Err(timeout));
            assert_eq!(receiver.wait_for_timeout(|_| false, time).map(drop), Err(timeout));
            let until = Instant::now() + time;
            assert_eq!(receiver.wait_for_deadline(|_| false, until).map(drop), Err(timeout));
        }
        assert_eq!(*receiver.wait_for_timeout(|value| *value == 0, Duration::ZERO).unwrap(), 0);
        let sends = crowd.spawn(1, move || sender.send(5));
        assert_eq!(receiver.changed_timeout(Duration::MAX), Ok(()));
        assert_eq!(*receiver.wait_for_timeout(|value| *value == 5, Duration::MAX).unwrap(), 5);
        let closed = Err(RecvTimeoutError::Closed);
        assert_eq!(receiver.wait_for_timeout(|_| false, Duration::MAX).map(drop), closed);
        sends.join().unwrap();
    });
}

/// A change meets a wait that ends by time: the receiver hears of it then or the next time.
#[test]
fn a_time_out_that_meets_a_change_loses_nothing() {
    in_crowds(|crowd| {
        let (sender, mut receiver) = watch::channel(0_u64);
        let sends = crowd.spawn(1, move || {
            for value in 1..=200 {
                sender.send(value).unwrap();
                (0..value % 3).for_each(|_| fiber::yield_now());
            }
        });
        let mut last = 0;
        loop {
            match receiver.changed_timeout(Duration::from_micros(last % 20)) {
                Ok(()) => last = *receiver.borrow(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Closed) => break,
            }
        }
        assert_eq!(last, 200);
        sends.join();
    });
}

#[test]
fn a_cancel_that_meets_a_change_loses_nothing() {
    everywhere(|| {
        for round in 0..100 {
            let (sender, mut receiver) = watch::channel(0);
            let receives = Arc::new(fiber::spawn(move || {
                let is_seen = match round % 2 {
                    0 => receiver.changed_cancellable().map(Result::unwrap),
                    _ => receiver.wait_for_cancellable(|value| *value == 1).map(|value| drop(value.unwrap())),
                };
                (is_seen, receiver)
            }));
            (0..round % 3).for_each(|_| fiber::yield_now());
            let copy = receives.clone();
            let canceller = fiber::spawn(move || copy.cancel());
            sender.send(1).unwrap();
            canceller.join().unwrap();
            let (is_seen, mut receiver) = Arc::into_inner(receives).unwrap().join().unwrap();
            match is_seen {
                Ok(()) => assert_eq!(receiver.has_changed(), Ok(false)),
                Err(stopped) => assert!(stopped.is_cancelled() && receiver.changed().is_ok()),
            }
            assert_eq!(*receiver.borrow(), 1);
        }
        let (sender, receiver) = watch::channel(0);
        let waits = fiber::spawn(move || sender.closed_cancellable());
        fiber::yield_now();
        waits.cancel();
        assert!(waits.join().unwrap().unwrap_err().is_cancelled());
        drop(receiver);
    });
}

/// A borrow is kept across a suspension. The sender waits, and other fibers of its worker run.
#[test]
fn a_borrow_stays_with_its_fiber_across_suspensions() {
    everywhere(|| {
        let (sender, receiver) = watch::channel(1);
        let (is_free, ticks) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let borrows = {
            let (is_free, receiver) = (is_free.clone(), receiver.clone());
            fiber::spawn(move || {
                let value = receiver.borrow();
                while !is_free.load(Ordering::Relaxed) {
                    fiber::yield_now();
                }
                fiber::sleep(Duration::from_micros(100));
                *value
            })
        };
        let value = receiver.borrow();
        let copy = sender.clone();
        let sends = fiber::spawn(move || copy.send(2).is_ok());
        let counts = ticks.clone();
        let other = fiber::spawn(move || {
            for _ in 0..10 {
                counts.fetch_add(1, Ordering::Relaxed);
                fiber::yield_now();
            }
        });
        other.join().unwrap();
        assert_eq!((ticks.load(Ordering::Relaxed), *value, sends.is_finished()), (10, 1, false));
        drop(value);
        is_free.store(true, Ordering::Relaxed);
        // It came before the sender, or after it.
        assert!([1, 2].contains(&borrows.join().unwrap()));
        assert!(sends.join().unwrap());
        assert_eq!((*receiver.borrow(), receiver.has_changed()), (2, Ok(true)));
    });
}

/// A sender changes the value for long. A receiver with a limit does not wait for that longer than
/// it says.
#[test]
fn a_limit_bounds_the_wait_for_a_slow_sender() {
    everywhere(|| {
        let (sender, mut receiver) = watch::channel(0);
        let (is_in, is_over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (enters, ends) = (is_in.clone(), is_over.clone());
        let changes = fiber::spawn(move || {
            sender.send_modify(|value| {
                enters.store(true, Ordering::Relaxed);
                while !ends.load(Ordering::Relaxed) {
                    fiber::yield_now();
                }
                *value = 1;
            });
        });
        while !is_in.load(Ordering::Relaxed) {
            fiber::yield_now();
        }
        // Nothing was sent yet, and the value cannot be borrowed.
        assert_eq!(receiver.has_changed(), Ok(false));
        let waits = receiver.wait_for_timeout(|_| true, Duration::from_micros(200));
        assert_eq!(waits.map(drop), Err(RecvTimeoutError::Timeout));
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(*receiver.wait_for(|value| *value == 1).unwrap(), 1);
        changes.join().unwrap();
    });
}

/// A receiver hears of a change, and its time is over before it can borrow the value: that is not
/// seen.
#[test]
fn a_change_that_could_not_be_borrowed_is_not_seen() {
    everywhere(|| {
        let (sender, mut receiver) = watch::channel(0);
        let (has_begun, is_over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (begins, ends) = (has_begun.clone(), is_over.clone());
        let waits = fiber::spawn(move || {
            begins.store(true, Ordering::Relaxed);
            let found = receiver.wait_for_timeout(|value| *value > 0, Duration::from_millis(2)).map(drop);
            ends.store(true, Ordering::Relaxed);
            (found, receiver)
        });
        while !has_begun.load(Ordering::Relaxed) {
            fiber::yield_now();
        }
        sender.send(1).unwrap();
        // It is woken, and finds the value locked, unless it was faster.
        sender.send_if_modified(|_| {
            while !is_over.load(Ordering::Relaxed) {
                fiber::yield_now();
            }
            false
        });
        let (found, receiver) = waits.join().unwrap();
        assert!(found.is_ok() || *receiver.borrow() == 1 && receiver.has_changed() == Ok(true));
    });
}

#[test]
fn a_wait_inside_no_suspend_panics_and_leaves_no_trace() {
    let runtime = pinned(1);
    runtime.run(|| {
        let (sender, mut receiver) = watch::channel(0);
        refused(|| receiver.changed());
        refused(|| receiver.wait_for(|value| *value == 1).map(drop));
        refused(|| sender.closed());
        let value = receiver.borrow();
        refused(|| sender.send(1));
        drop(value);
        assert_eq!(receiver.has_changed(), Ok(false));
        // What does not wait is not refused.
        fiber::no_suspend(|| {
            sender.send(1).unwrap();
            assert_eq!(receiver.changed(), Ok(()));
            assert_eq!(*receiver.wait_for(|value| *value == 1).unwrap(), 1);
            assert_eq!(*receiver.borrow_and_update(), 1);
            drop(receiver);
            sender.closed();
        });
    });
}
