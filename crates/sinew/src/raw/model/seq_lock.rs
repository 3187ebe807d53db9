//! A value that is copied while it changes: a copy that is kept is one value.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

use crate::raw::RawSeqLock;
use crate::rt::Limit;
use crate::rt::model::check;

/// Two words that are always equal in a consistent copy.
struct Pair {
    lock: RawSeqLock,
    words: [AtomicU64; 2],
}

impl Pair {
    fn new() -> Arc<Self> {
        Arc::new(Self { lock: RawSeqLock::new(), words: [AtomicU64::new(0), AtomicU64::new(0)] })
    }

    fn copy(&self) -> [u64; 2] {
        [self.words[0].load(Ordering::Relaxed), self.words[1].load(Ordering::Relaxed)]
    }

    fn add(&self) {
        self.lock.begin(Limit::NEVER).unwrap();
        let value = self.copy()[0] + 1;
        self.lock.publish(|| self.words.iter().for_each(|word| word.store(value, Ordering::Relaxed)));
        self.lock.end();
    }
}

/// The reader is the spawned thread, which the checker runs last at first. A load may see any store
/// that is not too old for it, but the checker does not go back to move a store before a load that
/// it has already run.
#[test]
fn a_copy_that_is_kept_is_one_value() {
    check(3, || {
        let pair = Pair::new();
        let other = pair.clone();
        let reader = thread::spawn(move || {
            if let Some([first, second]) = other.lock.try_read(|| other.copy()) {
                assert_eq!(first, second);
            }
        });
        (0..2).for_each(|_| pair.add());
        reader.join().unwrap();
    });
}

/// A reader that falls back to the gate also gets a value, and values never go backwards.
#[test]
fn a_reader_gets_a_value() {
    check(3, || {
        let pair = Pair::new();
        let other = pair.clone();
        let reader = thread::spawn(move || {
            let [first, second] = [(); 2].map(|()| other.lock.read(|| other.copy()));
            assert!(first[0] == first[1] && second[0] == second[1] && first[0] <= second[0]);
        });
        (0..2).for_each(|_| pair.add());
        reader.join().unwrap();
        assert_eq!(pair.lock.read(|| pair.copy()), [2, 2]);
    });
}

#[test]
fn two_writers_take_turns() {
    check(2, || {
        let pair = Pair::new();
        let other = pair.clone();
        let writer = thread::spawn(move || other.add());
        pair.add();
        writer.join().unwrap();
        assert_eq!(pair.lock.try_read(|| pair.copy()), Some([2, 2]));
    });
}
