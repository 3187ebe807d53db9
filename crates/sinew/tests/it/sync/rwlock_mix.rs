//! Locks for readers and writers, taken and left in all ways at once, from seeds.

use super::super::crowd::in_crowds;
use super::super::support::Random;
use sinew::fiber;
use sinew::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Two numbers that are the same whenever no writer has the lock.
type Pair = (u64, u64);

/// A member of the crowd, which reads and writes at random.
struct Member {
    lock: Arc<RwLock<Pair>>,
    random: Random,
    /// The number of readers that have the lock now. A writer counts as `WRITER` readers.
    inside: Arc<AtomicU64>,
}

const WRITER: u64 = 1_000;

impl Member {
    fn read(&mut self, guard: RwLockReadGuard<'_, Pair>) -> u64 {
        assert!(self.inside.fetch_add(1, Ordering::Relaxed) < WRITER, "a reader beside a writer");
        (0..self.random.below(3)).for_each(|_| fiber::yield_now());
        assert_eq!(guard.0, guard.1);
        self.inside.fetch_sub(1, Ordering::Relaxed);
        0
    }

    fn write(&mut self, mut guard: RwLockWriteGuard<'_, Pair>) -> u64 {
        assert_eq!(self.inside.fetch_add(WRITER, Ordering::Relaxed), 0, "a writer beside somebody");
        guard.0 += 1;
        (0..self.random.below(3)).for_each(|_| fiber::yield_now());
        guard.1 += 1;
        self.inside.fetch_sub(WRITER, Ordering::Relaxed);
        if self.random.below(2) == 0 {
            self.read(RwLockWriteGuard::downgrade(guard));
        }
        1
    }

    fn step(&mut self) -> u64 {
        let lock = self.lock.clone();
        let time = Duration::from_micros(self.random.below(30));
        match self.random.below(10) {
            0 => lock.try_read().map_or(0, |guard| self.read(guard)),
            1 => lock.try_write().map_or(0, |guard| self.write(guard)),
            2 => lock.try_read_for(time).map_or(0, |guard| self.read(guard)),
            3 | 4 => lock.try_write_for(time).map_or(0, |guard| self.write(guard)),
            5 => self.write(lock.write().unwrap()),
            _ => self.read(lock.read().unwrap()),
        }
    }
}

#[test]
fn in_all_ways_at_once() {
    in_crowds(|crowd| {
        let (lock, inside) = (Arc::new(RwLock::new((0, 0))), Arc::new(AtomicU64::new(0)));
        let copy = lock.clone();
        let written = crowd.all(8, move |number| {
            let random = Random::new(number as u64 + 1);
            let mut member = Member { lock: copy.clone(), random, inside: inside.clone() };
            (0..100).map(|_| member.step()).sum::<u64>()
        });
        let all = written.into_iter().sum();
        assert_eq!(*lock.try_write().unwrap(), (all, all));
    });
}
