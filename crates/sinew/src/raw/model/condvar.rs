//! A condition variable: no notification is lost.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;
use std::time::Instant;

use crate::raw::{RawCondvar, RawMutex};
use crate::rt::Limit;
use crate::rt::model::check;

struct Gate {
    mutex: RawMutex,
    /// Protected by the mutex.
    is_open: AtomicBool,
    condvar: RawCondvar,
}

impl Gate {
    fn new() -> Arc<Self> {
        let (mutex, condvar) = (RawMutex::new(), RawCondvar::new());
        Arc::new(Self { mutex, is_open: AtomicBool::new(false), condvar })
    }

    fn open(&self) {
        self.mutex.lock();
        self.is_open.store(true, Ordering::Relaxed);
        self.mutex.unlock();
    }

    fn pass(&self) {
        self.mutex.lock();
        while !self.is_open.load(Ordering::Relaxed) {
            self.condvar.wait(&self.mutex, Limit::NEVER);
        }
        self.mutex.unlock();
    }
}

#[test]
fn a_waiter_is_notified() {
    check(3, || {
        let gate = Gate::new();
        let other = gate.clone();
        let opener = thread::spawn(move || {
            other.open();
            other.condvar.notify_one();
        });
        gate.pass();
        opener.join().unwrap();
    });
}

#[test]
fn all_waiters_are_notified() {
    check(2, || {
        let gate = Gate::new();
        let (one, two) = (gate.clone(), gate.clone());
        let opener = thread::spawn(move || {
            one.open();
            one.condvar.notify_all();
        });
        let other = thread::spawn(move || two.pass());
        gate.pass();
        other.join().unwrap();
        opener.join().unwrap();
    });
}

/// One of two waiters gives up. The notification then goes to the other, unless the first was in
/// time.
#[test]
fn a_waiter_that_gives_up_keeps_no_notification() {
    check(2, || {
        let gate = Gate::new();
        let other = gate.clone();
        let hasty = thread::spawn(move || {
            other.mutex.lock();
            if !other.is_open.load(Ordering::Relaxed) {
                let _ = other.condvar.wait(&other.mutex, Limit::until(Some(Instant::now())));
            }
            let is_open = other.is_open.load(Ordering::Relaxed);
            other.mutex.unlock();
            if is_open {
                // It was notified, perhaps instead of the other waiter. It passes the notification
                // on, as users of `notify_one` do.
                other.condvar.notify_one();
            }
        });
        let third = gate.clone();
        let opener = thread::spawn(move || {
            third.open();
            third.condvar.notify_one();
        });
        gate.pass();
        hasty.join().unwrap();
        opener.join().unwrap();
    });
}
