//! Tests of fibers on one thread without a pool: everything that waits works there too.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::channel::{bounded, unbounded};
use crate::fiber::{self, Builder};
use crate::rt::run_on_one_core;
use crate::sync::{Condvar, Mutex, RwLock, Semaphore};
use crate::time;

/// Runs `body` as a fiber on one core, once with fibers that stay and once with fibers that may
/// migrate.
#[track_caller]
fn on_one_core(body: impl Fn()) {
    for migrates in [false, true] {
        run_on_one_core(migrates, Builder::new().attributes(std::panic::Location::caller()), &body);
        assert!(!fiber::is_fiber(), "the thread is a plain one again");
    }
}

#[test]
fn fibers_are_spawned_and_joined() {
    on_one_core(|| {
        let fibers: Vec<_> = (0..1_000).map(|number| fiber::spawn(move || number)).collect();
        assert_eq!(fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum::<u64>(), 499_500);
        let nested = fiber::spawn(|| fiber::spawn(|| fiber::current().worker()).join().unwrap());
        assert_eq!(nested.join().unwrap(), Some(0));
        let failed = fiber::spawn(|| std::panic::resume_unwind(Box::new("a reason")));
        assert_eq!(failed.join().unwrap_err().downcast_ref(), Some(&"a reason"));
        let batch = fiber::spawn_batch((0..10).map(|number| move || number));
        assert_eq!(batch.into_iter().map(|fiber| fiber.join().unwrap()).sum::<u64>(), 45);
    });
}

#[test]
fn scopes_wait_and_cancel() {
    on_one_core(|| {
        let sum = AtomicUsize::new(0);
        fiber::scope(|scope| {
            for number in 0..100 {
                let sum = &sum;
                scope.spawn(move || {
                    fiber::yield_now();
                    sum.fetch_add(number, Ordering::Relaxed)
                });
            }
        });
        assert_eq!(sum.load(Ordering::Relaxed), 4_950);
        fiber::scope(|scope| {
            let parked = scope.spawn(fiber::park_cancellable);
            fiber::yield_now();
            scope.cancel();
            assert!(parked.join().unwrap().is_err());
        });
    });
}

#[test]
fn locks_are_waited_for() {
    on_one_core(|| {
        let (count, turns) = (Mutex::new(0), RwLock::new(0));
        let (semaphore, is_done) = (Semaphore::new(2), (Mutex::new(false), Condvar::new()));
        fiber::scope(|scope| {
            scope.spawn(|| {
                let mut done = is_done.0.lock().unwrap();
                while !*done {
                    done = is_done.1.wait(done).unwrap();
                }
            });
            let fibers: Vec<_> = (0..10)
                .map(|_| {
                    scope.spawn(|| {
                        for _ in 0..100 {
                            let _permit = semaphore.acquire();
                            let mut count = count.lock().unwrap();
                            fiber::yield_now();
                            *count += 1;
                            *turns.write().unwrap() += 1;
                        }
                    })
                })
                .collect();
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
            *is_done.0.lock().unwrap() = true;
            is_done.1.notify_all();
        });
        assert_eq!((*count.lock().unwrap(), *turns.read().unwrap()), (1_000, 1_000));
    });
}

#[test]
fn channels_pass_messages() {
    on_one_core(|| {
        for (sender, receiver) in [bounded(2), bounded(0), unbounded()] {
            let fiber = fiber::spawn(move || (0..500_u32).for_each(|number| sender.send(number).unwrap()));
            assert!(receiver.iter().eq(0..500));
            fiber.join().unwrap();
        }
        let ((ping, pinged), (pong, ponged)) = (bounded(0), bounded(0));
        let fiber =
            fiber::spawn(move || pinged.iter().for_each(|number: u32| pong.send(number + 1).unwrap()));
        for number in 0..100 {
            ping.send(number).unwrap();
            assert_eq!(ponged.recv(), Ok(number + 1));
        }
        drop(ping);
        fiber.join().unwrap();
    });
}

#[test]
fn timers_fire() {
    on_one_core(|| {
        let start = Instant::now();
        let sleepers: Vec<_> = (1..20_u64)
            .rev()
            .map(|time| fiber::spawn(move || fiber::sleep(Duration::from_millis(time))))
            .collect();
        sleepers.into_iter().for_each(|fiber| fiber.join().unwrap());
        assert!(start.elapsed() >= Duration::from_millis(19));
        let (_sender, receiver) = bounded::<u32>(1);
        assert!(receiver.recv_timeout(Duration::from_millis(2)).is_err());
        let is_late = time::timeout(Duration::from_millis(2), || {
            fiber::sleep_cancellable(Duration::from_secs(3_600)).is_err()
        });
        assert!(is_late);
        let (sender, receiver) = unbounded();
        let timer = time::Timer::new(move || sender.send(fiber::is_fiber()).unwrap());
        for _ in 0..3 {
            timer.arm(time::Schedule::after(Duration::from_millis(1)));
            assert_eq!(receiver.recv(), Ok(true));
        }
        timer.arm(time::Schedule::after(Duration::from_secs(3_600)));
        assert!(timer.cancel());
    });
}

#[test]
fn other_threads_wake_the_core() {
    on_one_core(|| {
        let (sender, receiver) = bounded(1);
        let (fiber, lock) = (fiber::current(), Mutex::new(0));
        std::thread::scope(|scope| {
            scope.spawn(move || (0..100_u32).for_each(|number| sender.send(number).unwrap()));
            assert!(receiver.iter().eq(0..100));
            scope.spawn(|| {
                for _ in 0..100 {
                    *lock.lock().unwrap() += 1;
                }
            });
            for _ in 0..100 {
                *lock.lock().unwrap() += 1;
                fiber::yield_now();
            }
            scope.spawn(move || fiber.unpark());
            fiber::park();
        });
        assert_eq!(*lock.lock().unwrap(), 200);
    });
}
