//! A reader-writer lock: a writer holds it alone, readers share it, and no caller waits for ever.

use loom::sync::Arc;
use loom::thread::{self, JoinHandle};
use std::time::Instant;

use super::watched::Watched;
use crate::raw::RawRwLock;
use crate::rt::Limit;
use crate::rt::model::check;

struct Counter {
    lock: RawRwLock,
    value: Watched,
}

impl Counter {
    fn new() -> Arc<Self> {
        Arc::new(Self { lock: RawRwLock::new(), value: Watched::new() })
    }

    fn add(&self) {
        self.lock.write();
        self.value.add();
        self.lock.unlock_write();
    }

    fn get(&self) -> u32 {
        self.lock.read();
        let value = self.value.get();
        self.lock.unlock_read();
        value
    }

    /// Returns whether it acquired the lock, without waiting.
    fn tries_to_add(&self) -> bool {
        let has_it = self.lock.try_write();
        if has_it {
            self.value.add();
            self.lock.unlock_write();
        }
        has_it
    }

    /// Returns whether it acquired the lock within its time limit.
    fn add_in_time(&self) -> bool {
        let has_it = self.lock.write_within(soon()).is_ok();
        if has_it {
            self.value.add();
            self.lock.unlock_write();
        }
        has_it
    }

    fn get_in_time(&self) {
        if self.lock.read_within(soon()).is_ok() {
            self.value.get();
            self.lock.unlock_read();
        }
    }
}

/// Returns a limit that is reached at any moment.
fn soon() -> Limit {
    Limit::until(Some(Instant::now()))
}

fn spawn<T: 'static>(counter: &Arc<Counter>, body: impl FnOnce(&Counter) -> T + 'static) -> JoinHandle<T> {
    let counter = counter.clone();
    thread::spawn(move || body(&counter))
}

#[test]
fn two_writers_count_to_two() {
    check(3, || {
        let counter = Counter::new();
        let adder = spawn(&counter, Counter::add);
        counter.add();
        adder.join().unwrap();
        assert_eq!(counter.get(), 2);
    });
}

#[test]
fn a_reader_and_a_writer_exclude_each_other() {
    check(3, || {
        let counter = Counter::new();
        let reader = spawn(&counter, |counter| counter.get() <= counter.get());
        (0..2).for_each(|_| counter.add());
        assert!(reader.join().unwrap());
        assert_eq!(counter.get(), 2);
    });
}

#[test]
fn two_writers_and_a_reader_acquire_the_lock() {
    check(2, || {
        let counter = Counter::new();
        let (adder, reader) = (spawn(&counter, Counter::add), spawn(&counter, Counter::get));
        counter.add();
        adder.join().unwrap();
        assert!(reader.join().unwrap() <= 2);
        assert_eq!(counter.get(), 2);
    });
}

/// Readers wait for a writer, which locks again before they have run. They are handed the lock in
/// the end.
#[test]
fn passed_over_readers_are_handed_the_lock() {
    check(3, || {
        let counter = Counter::new();
        let readers = [(); 2].map(|()| spawn(&counter, Counter::get));
        (0..2).for_each(|_| counter.add());
        readers.into_iter().for_each(|reader| assert!(reader.join().unwrap() <= 2));
        assert!(counter.lock.try_write());
    });
}

/// A writer overtakes a reader that is awake, and another reader waits behind it. They do not wait
/// for each other to leave.
#[test]
fn passed_over_readers_enter_together() {
    check(3, || {
        let counter = Counter::new();
        counter.lock.write();
        let copy = counter.clone();
        let readers = thread::spawn(move || {
            let other = spawn(&copy, Counter::get);
            copy.lock.read();
            other.join().unwrap();
            copy.lock.unlock_read();
        });
        counter.lock.unlock_write();
        counter.tries_to_add();
        readers.join().unwrap();
        assert!(counter.lock.try_write());
    });
}

/// A writer gets the lock although readers follow each other without a gap.
#[test]
fn a_passed_over_writer_is_handed_the_lock() {
    check(2, || {
        let counter = Counter::new();
        let reader = spawn(&counter, |counter| (0..2).for_each(|_| _ = counter.get()));
        let writer = spawn(&counter, Counter::add);
        (0..2).for_each(|_| _ = counter.get());
        writer.join().unwrap();
        reader.join().unwrap();
        assert_eq!(counter.get(), 1);
        assert!(counter.lock.try_write());
    });
}

/// A reader waits only because a writer waits before it. It continues when that writer gives up.
#[test]
fn a_writer_that_gives_up_lets_readers_in() {
    check(2, || {
        let counter = Counter::new();
        counter.lock.read();
        let hasty = spawn(&counter, |counter| assert!(!counter.add_in_time()));
        let readers = [(); 2].map(|()| spawn(&counter, Counter::get));
        hasty.join().unwrap();
        readers.into_iter().for_each(|reader| assert_eq!(reader.join().unwrap(), 0));
        counter.lock.unlock_read();
        assert!(counter.lock.try_write());
    });
}

/// A waiter that was woken, or was to be handed the lock, and times out must not keep the wake-up.
#[test]
fn a_writer_that_gives_up_loses_no_wake_up() {
    check(2, || {
        let counter = Counter::new();
        let (hasty, patient) = (spawn(&counter, Counter::add_in_time), spawn(&counter, Counter::add));
        counter.add();
        let has_added = hasty.join().unwrap();
        patient.join().unwrap();
        assert_eq!(counter.get(), 2 + u32::from(has_added));
        assert!(counter.lock.try_write());
    });
}

#[test]
fn a_reader_that_gives_up_loses_no_wake_up() {
    check(2, || {
        let counter = Counter::new();
        let (hasty, patient) = (spawn(&counter, Counter::get_in_time), spawn(&counter, Counter::add));
        counter.add();
        hasty.join().unwrap();
        patient.join().unwrap();
        assert_eq!(counter.get(), 2);
        assert!(counter.lock.try_write());
    });
}

/// The waiter that the lock is handed to gives up at that very moment.
#[test]
fn a_lock_whose_last_waiter_gives_up_is_free() {
    for gives_up in [Counter::get_in_time, |counter: &Counter| _ = counter.add_in_time()] {
        check(4, move || {
            let counter = Counter::new();
            let hasty = spawn(&counter, gives_up);
            (0..3).for_each(|_| counter.add());
            hasty.join().unwrap();
            assert!(counter.lock.try_write());
        });
    }
}

/// A writer that becomes a reader lets readers in, and no writer.
#[test]
fn a_writer_that_becomes_a_reader_lets_others_in() {
    check(2, || {
        let counter = Counter::new();
        counter.lock.write();
        let reader = spawn(&counter, Counter::get);
        let writer = spawn(&counter, Counter::add_in_time);
        counter.value.add();
        counter.lock.downgrade();
        assert_eq!(reader.join().unwrap(), 1);
        assert_eq!(counter.value.get(), 1);
        counter.lock.unlock_read();
        let has_added = writer.join().unwrap();
        assert_eq!(counter.get(), 1 + u32::from(has_added));
        assert!(counter.lock.try_write());
    });
}

#[test]
fn try_methods_acquire_it_once() {
    check(3, || {
        let counter = Counter::new();
        let trier = spawn(&counter, Counter::tries_to_add);
        if counter.lock.try_read() {
            counter.value.get();
            counter.lock.unlock_read();
        }
        let added = u32::from(counter.tries_to_add()) + u32::from(trier.join().unwrap());
        assert_eq!(counter.get(), added);
    });
}
