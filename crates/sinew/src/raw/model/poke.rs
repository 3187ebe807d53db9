//! Waits that a poke interrupts without a reason to stop: a caller that wakes meanwhile wakes
//! another waiter, and no waiter is forgotten.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use crate::raw::{RawCondvar, RawEvent, RawMutex, RawRwLock, Reset, wait_any};
use crate::rt::model::{check, pokes_caller};
use crate::rt::{Limit, WaitKind};

/// There is another waiter, and a caller that locks again and again, so that the mutex is handed
/// over.
#[test]
fn every_caller_acquires_the_mutex() {
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
fn readers_and_writers_acquire_the_lock() {
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

/// A waiter is poked while other callers wake the last waiter and all of them: it is woken, or
/// keeps waiting in its place.
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
        // The other waiter may need a notification: only one is stored, not two.
        event.set_for_last();
        [waiter, poker, setter].into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// One of several events ends the wait and is taken; the others stay.
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
