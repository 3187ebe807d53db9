//! A mutex: one caller holds it at a time, and no caller waits for ever.

use loom::sync::Arc;
use loom::thread;
use std::time::Instant;

use super::watched::Watched;
use crate::raw::RawMutex;
use crate::rt::Limit;
use crate::rt::model::check;

struct Counter {
    mutex: RawMutex,
    value: Watched,
}

impl Counter {
    fn new() -> Arc<Self> {
        Arc::new(Self { mutex: RawMutex::new(), value: Watched::new() })
    }

    fn add_owned(&self) {
        self.value.add();
        self.mutex.unlock();
    }

    fn add(&self) {
        self.mutex.lock();
        self.add_owned();
    }

    /// Whether it had the mutex before its time was over.
    fn add_in_time(&self) -> bool {
        let has_it = self.mutex.lock_within(Limit::until(Some(Instant::now()))).is_ok();
        if has_it {
            self.add_owned();
        }
        has_it
    }

    fn assert_is(&self, expected: u32) {
        self.mutex.lock();
        assert_eq!(self.value.get(), expected);
        self.mutex.unlock();
    }
}

#[test]
fn two_count_to_two() {
    check(3, || {
        let counter = Counter::new();
        let other = counter.clone();
        let adder = thread::spawn(move || other.add());
        counter.add();
        adder.join().unwrap();
        counter.assert_is(2);
    });
}

#[test]
fn three_count_to_three() {
    check(2, || {
        let counter = Counter::new();
        let adders = [(); 2].map(|()| {
            let other = counter.clone();
            thread::spawn(move || other.add())
        });
        counter.add();
        adders.into_iter().for_each(|adder| adder.join().unwrap());
        counter.assert_is(3);
    });
}

/// Newcomers acquire the mutex before a waiter, which is handed the mutex then.
#[test]
fn a_passed_over_waiter_is_handed_the_mutex() {
    check(3, || {
        let counter = Counter::new();
        let other = counter.clone();
        let adder = thread::spawn(move || other.add());
        (0..3).for_each(|_| counter.add());
        adder.join().unwrap();
        counter.assert_is(4);
    });
}

/// A waiter that was woken and times out must not keep the wake-up.
#[test]
fn a_waiter_that_gives_up_loses_no_wake_up() {
    check(2, || {
        let counter = Counter::new();
        let (one, two) = (counter.clone(), counter.clone());
        let hasty = thread::spawn(move || one.add_in_time());
        let patient = thread::spawn(move || two.add());
        counter.add();
        let has_added = hasty.join().unwrap();
        patient.join().unwrap();
        counter.assert_is(2 + u32::from(has_added));
    });
}

#[test]
fn try_lock_acquires_it_once() {
    check(3, || {
        let counter = Counter::new();
        let other = counter.clone();
        let tries = move |counter: &Counter| {
            let has_it = counter.mutex.try_lock();
            if has_it {
                counter.add_owned();
            }
            u32::from(has_it)
        };
        let trier = thread::spawn(move || tries(&other));
        let mine = tries(&counter);
        counter.assert_is(mine + trier.join().unwrap());
    });
}
