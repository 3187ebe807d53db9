//! Parking and yielding.

use super::support::everywhere;
use sinew::fiber;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[test]
fn an_unpark_before_a_park_is_kept() {
    everywhere(|| {
        fiber::current().unpark();
        fiber::current().unpark();
        fiber::park();
        // Both were one.
        let begun = Instant::now();
        fiber::park_timeout(Duration::from_millis(2));
        assert!(begun.elapsed() >= Duration::from_millis(2));
    });
}

#[test]
fn no_unpark_is_lost() {
    everywhere(|| {
        const ROUNDS: usize = 2_000;
        let turn = Arc::new(AtomicUsize::new(0));
        let (me, copy) = (fiber::current(), turn.clone());
        let other = fiber::spawn(move || {
            for round in 0..ROUNDS {
                while copy.load(Ordering::Acquire) != 2 * round + 1 {
                    fiber::park();
                }
                copy.store(2 * round + 2, Ordering::Release);
                me.unpark();
            }
        });
        for round in 0..ROUNDS {
            turn.store(2 * round + 1, Ordering::Release);
            other.thread().unpark();
            while turn.load(Ordering::Acquire) != 2 * round + 2 {
                fiber::park();
            }
        }
        other.join().unwrap();
    });
}

#[test]
fn threads_unpark_fibers_and_fibers_threads() {
    everywhere(|| {
        let done = Arc::new(AtomicBool::new(false));
        let (me, copy) = (fiber::current(), done.clone());
        let thread = std::thread::spawn(move || {
            let thread = fiber::current();
            let fiber = fiber::spawn(move || thread.unpark());
            fiber::park();
            fiber.join().unwrap();
            copy.store(true, Ordering::Release);
            me.unpark();
        });
        while !done.load(Ordering::Acquire) {
            fiber::park();
        }
        thread.join().unwrap();
    });
}

#[test]
fn a_token_does_not_end_other_waits() {
    everywhere(|| {
        fiber::current().unpark();
        let begun = Instant::now();
        fiber::sleep(Duration::from_millis(2));
        assert!(begun.elapsed() >= Duration::from_millis(2));
        // It is still there.
        fiber::park();
    });
}

#[test]
fn yielding_lets_others_run() {
    everywhere(|| {
        let done = Arc::new(AtomicBool::new(false));
        let copy = done.clone();
        let other = fiber::spawn(move || copy.store(true, Ordering::Relaxed));
        while !done.load(Ordering::Relaxed) {
            fiber::yield_now();
        }
        other.join().unwrap();
    });
}
