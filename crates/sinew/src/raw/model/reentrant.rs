//! A mutex that its owner may acquire again: no other caller owns it before it was released as
//! often as it was acquired.

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
fn two_owners_acquire_it_twice() {
    check(3, || {
        let counter = Counter::new();
        let other = counter.clone();
        let adder = thread::spawn(move || other.add_twice(Limit::NEVER));
        assert!(counter.add_twice(Limit::NEVER));
        assert!(adder.join().unwrap());
        assert_eq!(counter.value.get(), 4);
    });
}

/// A caller that has released it is not taken for its owner.
#[test]
fn a_former_owner_is_not_taken_for_the_owner() {
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
fn a_waiter_that_gives_up_has_not_acquired_it() {
    check(2, || {
        let counter = Counter::new();
        let other = counter.clone();
        let hasty = thread::spawn(move || other.add_twice(Limit::until(Some(Instant::now()))));
        assert!(counter.add_twice(Limit::NEVER));
        let expected = if hasty.join().unwrap() { 4 } else { 2 };
        assert_eq!(counter.value.get(), expected);
    });
}
