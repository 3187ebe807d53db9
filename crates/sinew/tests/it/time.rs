//! Sleeping.

use super::support::{everywhere, pinned};
use sinew::fiber;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[test]
fn sleep_takes_at_least_its_time() {
    everywhere(|| {
        for micros in [0, 1, 50, 1_500] {
            let (begun, time) = (Instant::now(), Duration::from_micros(micros));
            fiber::sleep(time);
            assert!(begun.elapsed() >= time);
            fiber::sleep_until(begun + 2 * time);
            assert!(begun.elapsed() >= 2 * time);
        }
    });
}

#[test]
fn many_sleep_at_once() {
    everywhere(|| {
        let sleep = |number: u64| {
            fiber::spawn(move || {
                let time = Duration::from_micros(number * 7_919 % 20_000);
                let begun = Instant::now();
                fiber::sleep(time);
                assert!(begun.elapsed() >= time);
            })
        };
        let fibers: Vec<_> = (0..2_000).map(sleep).collect();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
}

/// In any order in which they begin and end.
#[test]
fn long_sleeps_hold_up_no_short_ones() {
    everywhere(|| {
        let sleep = |number: u64| {
            let is_long = number.is_multiple_of(3);
            let micros = Duration::from_micros(number * 7_919 % 5_000);
            let time = if is_long { Duration::from_hours(1) } else { micros };
            (is_long, fiber::spawn(move || fiber::park_timeout(time)))
        };
        let (long, short): (Vec<_>, Vec<_>) = (0..200).map(sleep).partition(|(is_long, _)| *is_long);
        short.into_iter().for_each(|(_, fiber)| fiber.join().unwrap());
        for (_, fiber) in long {
            assert!(!fiber.is_finished());
            fiber.thread().unpark();
            fiber.join().unwrap();
        }
    });
}

#[test]
fn spawning_and_joining_for_ever_starves_nobody() {
    let runtime = pinned(1);
    runtime.run(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let copy = stop.clone();
        let busy = fiber::spawn(move || {
            while !copy.load(Ordering::Relaxed) {
                fiber::spawn(|| ()).join().unwrap();
            }
        });
        // A timer fires, and a new fiber runs, although there is always a task.
        fiber::sleep(Duration::from_millis(1));
        fiber::spawn(move || stop.store(true, Ordering::Relaxed)).join().unwrap();
        busy.join().unwrap();
    });
}

#[test]
fn yielding_for_ever_starves_no_timer() {
    everywhere(|| {
        let stop = Arc::new(AtomicBool::new(false));
        let yielders: Vec<_> = (0..20)
            .map(|_| {
                let stop = stop.clone();
                fiber::spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        fiber::yield_now();
                    }
                })
            })
            .collect();
        fiber::sleep(Duration::from_millis(1));
        stop.store(true, Ordering::Relaxed);
        yielders.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
}
