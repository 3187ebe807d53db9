//! A mutex that its owner may take again: it is nobody else's before it is given back as often as it was taken.

use loom::sync::Arc;
use loom::thread;
use std::time::Instant;

use super::watched::Watched;
use crate::raw::RawReentrant;
use crate::rt::Limit;
use crate::rt::model::check;

struct Counter {
    lock: RawReentrant,
    value: Watched,
}

impl Counter {
    fn new() -> Arc<Self> {
        Arc::new(Self { lock: RawReentrant::new(), value: Watched::new() })
    }

    fn add_twice(&self, limit: Limit) -> bool {
        if self.lock.lock_within(limit).unwrap().is_err() {
            return false;
        }
        assert_eq!(self.lock.try_lock(), Ok(true));
        self.value.add();
        self.lock.unlock();
        self.value.add();
        self.lock.unlock();
        true
    }
}

#[test]
fn two_take_it_twice() {
    check(3, || {
        let counter = Counter::new();
        let other = counter.clone();
        let adder = thread::spawn(move || other.add_twice(Limit::NEVER));
        assert!(counter.add_twice(Limit::NEVER));
        assert!(adder.join().unwrap());
        assert_eq!(counter.value.get(), 4);
    });
}

/// Whoever has given it back is not taken for its owner.
#[test]
fn one_takes_it_again_after_it_was_another_one_s() {
    check(3, || {
        let counter = Counter::new();
        let other = counter.clone();
        let adder = thread::spawn(move || other.add_twice(Limit::NEVER));
        (0..2).for_each(|_| assert!(counter.add_twice(Limit::NEVER)));
        assert!(adder.join().unwrap());
        assert_eq!(counter.value.get(), 6);
    });
}

#[test]
fn one_that_gives_up_has_not_taken_it() {
    check(2, || {
        let counter = Counter::new();
        let other = counter.clone();
        let hasty = thread::spawn(move || other.add_twice(Limit::until(Some(Instant::now()))));
        assert!(counter.add_twice(Limit::NEVER));
        let expected = if hasty.join().unwrap() { 4 } else { 2 };
        assert_eq!(counter.value.get(), expected);
    });
}
