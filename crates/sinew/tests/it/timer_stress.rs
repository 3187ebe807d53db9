//! Timers that call back, under many hands at once.

use super::support::{Random, everywhere};
use sinew::fiber;
use sinew::time::{self, MissedTicks, Schedule, Timer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// What is known of one timer.
#[derive(Default)]
struct Record {
    calls: AtomicU32,
    running: AtomicU32,
    /// Nothing may come from now on.
    is_over: AtomicBool,
    drops: AtomicU32,
    /// How often one was called after it was cancelled and waited for, or by two at once.
    faults: AtomicU32,
}

struct Held(Arc<Record>);

impl Held {
    /// Counts faults instead of panicking: a panic in here would not be noticed.
    fn call(&self, waits: bool) {
        self.check(!self.0.is_over.load(Ordering::SeqCst));
        self.check(self.0.running.fetch_add(1, Ordering::SeqCst) == 0);
        if waits {
            fiber::sleep(Duration::from_micros(20));
        }
        self.check(!self.0.is_over.load(Ordering::SeqCst));
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.calls.fetch_add(1, Ordering::SeqCst);
    }

    fn check(&self, is_right: bool) {
        self.0.faults.fetch_add(u32::from(!is_right), Ordering::SeqCst);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.drops.fetch_add(1, Ordering::SeqCst);
    }
}

fn wait_until(is_so: impl Fn() -> bool) {
    while !is_so() {
        fiber::sleep(Duration::from_micros(50));
    }
}

/// Makes one timer, does something with it, and sees whether that came to what it ought to.
fn round(random: &mut Random) {
    let record = Arc::new(Record::default());
    let (held, waits) = (Held(record.clone()), random.below(4) == 0);
    let time = Duration::from_micros(random.below(200));
    match random.below(6) {
        0 => {
            time::after(time, move || held.call(waits)).detach();
            wait_until(|| record.calls.load(Ordering::SeqCst) == 1);
        }
        1 => {
            let timer = time::after(time, move || held.call(waits));
            fiber::sleep(Duration::from_micros(random.below(200)));
            let is_kept = timer.cancel_and_wait().unwrap();
            record.is_over.store(true, Ordering::SeqCst);
            assert_eq!(record.calls.load(Ordering::SeqCst), u32::from(!is_kept), "once, or kept from it");
        }
        2 => {
            let timer = time::after(time, move || held.call(waits));
            fiber::sleep(Duration::from_micros(random.below(200)));
            let is_kept = timer.cancel();
            drop(timer);
            wait_until(|| record.drops.load(Ordering::SeqCst) == 1);
            assert_eq!(record.calls.load(Ordering::SeqCst), u32::from(!is_kept), "once, or kept from it");
        }
        3 => drop(time::after(time, move || held.call(waits))),
        4 => {
            let timer = time::every(Duration::from_micros(1 + random.below(50)), move || held.call(waits));
            wait_until(|| record.calls.load(Ordering::SeqCst) >= 2);
            timer.cancel_and_wait().unwrap();
            record.is_over.store(true, Ordering::SeqCst);
        }
        _ => shared(random, held, waits),
    }
    wait_until(|| record.drops.load(Ordering::SeqCst) == 1);
    fiber::yield_now();
    assert_eq!(record.drops.load(Ordering::SeqCst), 1, "what it holds is dropped once");
    assert_eq!(record.faults.load(Ordering::SeqCst), 0, "nothing comes after the end, and nothing overlaps");
}

/// Several have one timer, and do with it what they like.
fn shared(random: &mut Random, held: Held, waits: bool) {
    let record = held.0.clone();
    let timer = Arc::new(Timer::new(move || held.call(waits)));
    let hands: Vec<_> = (0..3)
        .map(|_| {
            let (timer, mut random) = (timer.clone(), Random::new(random.below(u64::MAX)));
            fiber::spawn(move || {
                for _ in 0..10 {
                    let time = Duration::from_micros(random.below(30));
                    match random.below(6) {
                        0 => drop(timer.arm(Schedule::after(time))),
                        1 => {
                            let period = time + Duration::from_nanos(1);
                            timer.arm(Schedule::every(period).missed(MissedTicks::Skip));
                        }
                        2 => drop(timer.cancel()),
                        3 => drop(timer.cancel_and_wait()),
                        4 => drop(timer.cancel_and_wait_timeout(time / 4)),
                        _ => fiber::sleep(time),
                    }
                }
            })
        })
        .collect();
    hands.into_iter().for_each(|hand| hand.join().unwrap());
    timer.cancel_and_wait().unwrap();
    record.is_over.store(true, Ordering::SeqCst);
}

#[test]
fn many_hands_set_and_cancel() {
    everywhere(|| {
        let fibers: Vec<_> = (1..=8_u64)
            .map(|seed| {
                fiber::spawn(move || {
                    let mut random = Random::new(seed);
                    (0..40).for_each(|_| round(&mut random));
                })
            })
            .collect();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
}

/// The same on threads, with timers of the default runtime.
#[test]
fn threads_set_and_cancel() {
    let threads: Vec<_> = (1..=4_u64)
        .map(|seed| {
            thread::spawn(move || {
                let mut random = Random::new(seed);
                (0..100).for_each(|_| round(&mut random));
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
