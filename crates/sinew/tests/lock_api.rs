//! With the feature `lock_api`, that crate's types work over our locks, for fibers and threads at
//! once.

use lock_api::RwLockWriteGuard;
use sinew::sync::raw::{RawMutex, RawRwLock};
use sinew::{Runtime, fiber};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

type Mutex<T> = lock_api::Mutex<RawMutex, T>;
type RwLock<T> = lock_api::RwLock<RawRwLock, T>;

fn in_runtimes(body: impl Fn() + Clone + Send + 'static) {
    for workers in [1, 2, 8] {
        Runtime::builder().workers(workers).start().unwrap().run(body.clone());
    }
}

/// Four fibers and two threads do this.
fn all(body: impl Fn() + Clone + Send + 'static) {
    let fibers = [(); 4].map(|()| fiber::spawn(body.clone()));
    let threads = [(); 2].map(|()| thread::spawn(body.clone()));
    fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn a_mutex_is_one() {
    static TOTAL: Mutex<u32> = Mutex::new(0);
    in_runtimes(|| {
        *TOTAL.lock() = 0;
        all(|| {
            for _ in 0..50 {
                let mut total = TOTAL.lock();
                let before = *total;
                fiber::yield_now();
                *total = before + 1;
            }
        });
        assert_eq!(*TOTAL.lock(), 300);
    });
}

#[test]
fn a_lock_for_readers_and_writers_is_one() {
    in_runtimes(|| {
        let pair = Arc::new(RwLock::new((0, 0)));
        let copy = pair.clone();
        all(move || {
            for _ in 0..50 {
                let mut writer = copy.write();
                writer.0 += 1;
                fiber::yield_now();
                writer.1 += 1;
                let reader = RwLockWriteGuard::downgrade(writer);
                fiber::yield_now();
                assert_eq!(reader.0, reader.1);
                drop(reader);
                let reader = copy.read();
                assert_eq!(reader.0, reader.1);
            }
        });
        assert_eq!(*pair.write(), (300, 300));
    });
}

#[test]
fn waits_end_at_their_time() {
    in_runtimes(|| {
        let (mutex, lock) = (Mutex::new(1), RwLock::new(1));
        let (guard, reader) = (mutex.lock(), lock.read());
        assert!(mutex.is_locked() && lock.is_locked() && !lock.is_locked_exclusive());
        assert!(mutex.try_lock().is_none() && mutex.try_lock_for(Duration::from_micros(100)).is_none());
        assert!(mutex.try_lock_until(Instant::now()).is_none());
        assert!(lock.try_write().is_none() && lock.try_write_for(Duration::ZERO).is_none());
        assert!(lock.try_write_until(Instant::now() + Duration::from_micros(100)).is_none());
        assert!(lock.try_read_for(Duration::MAX).is_some() && lock.try_read_until(Instant::now()).is_some());
        drop((guard, reader));
        assert!(mutex.try_lock_for(Duration::MAX).is_some() && lock.try_write_for(Duration::MAX).is_some());
    });
}
