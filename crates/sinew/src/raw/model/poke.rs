//! Waits that are ended for nothing, by a poke that is no reason to stop: whoever wakes meanwhile wakes another one, and nobody is forgotten.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use crate::raw::{RawCondvar, RawEvent, RawMutex, RawRwLock, Reset, wait_any};
use crate::rt::model::{check, pokes_caller};
use crate::rt::{Limit, WaitKind};

/// With another one that waits, and one that comes again and again, so that the mutex is handed over.
#[test]
fn a_mutex_is_had_by_all() {
    check(3, || {
        let mutex = Arc::new(RawMutex::new());
        let adders = [1, 2].map(|times| {
            let mutex = mutex.clone();
            thread::spawn(move || {
                for _ in 0..times {
                    mutex.lock();
                    mutex.unlock();
                }
            })
        });
        let poker = thread::spawn(pokes_caller());
        mutex.lock_within(Limit::STOP).unwrap();
        mutex.unlock();
        poker.join().unwrap();
        adders.into_iter().for_each(|adder| adder.join().unwrap());
        assert!(mutex.try_lock());
    });
}

#[test]
fn a_lock_is_had_by_readers_and_writers() {
    check(2, || {
        let lock = Arc::new(RawRwLock::new());
        let (one, two) = (lock.clone(), lock.clone());
        let writer = thread::spawn(move || {
            one.write();
            one.unlock_write();
        });
        let reader = thread::spawn(move || {
            two.read();
            two.unlock_read();
        });
        let poker = thread::spawn(pokes_caller());
        lock.write_within(Limit::STOP).unwrap();
        lock.unlock_write();
        lock.read_within(Limit::STOP).unwrap();
        lock.unlock_read();
        [poker, writer, reader].into_iter().for_each(|thread| thread.join().unwrap());
        assert!(lock.try_write());
    });
}

#[test]
fn a_notification_is_not_lost() {
    check(3, || {
        let gate = Arc::new((RawMutex::new(), RawCondvar::new(), AtomicBool::new(false)));
        let other = gate.clone();
        let opener = thread::spawn(move || {
            other.0.lock();
            other.2.store(true, Ordering::Relaxed);
            other.0.unlock();
            other.1.notify_one();
        });
        let poker = thread::spawn(pokes_caller());
        gate.0.lock();
        while !gate.2.load(Ordering::Relaxed) {
            gate.1.wait(&gate.0, Limit::STOP);
        }
        gate.0.unlock();
        [poker, opener].into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// A waiter is poked while others wake the last one and all of them: it is woken, or waits in its
/// place.
#[test]
fn a_wake_up_of_the_last_is_not_lost() {
    check(2, || {
        let event = Arc::new(RawEvent::new(Reset::Auto));
        let (one, two) = (event.clone(), event.clone());
        let waiter = thread::spawn(move || {
            one.wait(WaitKind::Event, Limit::NEVER).unwrap();
            one.set_for_last();
        });
        let setter = thread::spawn(move || {
            two.wake_all();
            two.set_for_last();
        });
        let poker = thread::spawn(pokes_caller());
        event.wait(WaitKind::Event, Limit::STOP).unwrap();
        // The other one may have to be told: one notification is kept, not two.
        event.set_for_last();
        [waiter, poker, setter].into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// Of several events one ends the wait, and is taken; the others stay.
#[test]
fn one_of_several_events_is_taken() {
    check(2, || {
        let events = Arc::new([(); 2].map(|()| RawEvent::new(Reset::Auto)));
        let setters = [0, 1].map(|index| {
            let events = events.clone();
            thread::spawn(move || events[index].set())
        });
        let poker = thread::spawn(pokes_caller());
        let first = wait_any(2, |index| &events[index], Limit::STOP).unwrap();
        events[1 - first].wait(WaitKind::Event, Limit::STOP).unwrap();
        poker.join().unwrap();
        setters.into_iter().for_each(|setter| setter.join().unwrap());
        assert!(!events[0].is_set() && !events[1].is_set());
    });
}
