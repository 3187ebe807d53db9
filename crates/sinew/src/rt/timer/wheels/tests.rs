//! Tests of the wheels against a sorted map, and of properties that a map would not show.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::Timers;
use super::wheel::TICK_BITS;
use crate::rt::wait::WaitTimerId;

/// How late a near timer may be due.
const PRECISION: Duration = Duration::from_nanos(1 << TICK_BITS);
/// How late a far timer may be due.
const COARSE: Duration = Duration::from_nanos((1 << TICK_BITS) * 257);

/// Random numbers from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }

    /// Returns a time up to some days, as often short as long.
    fn time(&mut self) -> Duration {
        let bits = self.next(48) as u32;
        Duration::from_nanos(self.next(1 << (bits + 1)))
    }
}

/// The expected timers, by moment and number.
#[derive(Default)]
struct Reference {
    set: BTreeMap<(Instant, u32), WaitTimerId>,
}

impl Reference {
    fn first(&self) -> Option<Instant> {
        self.set.first_key_value().map(|((when, _), _)| *when)
    }
}

/// Takes out all due timers. None may be early, and none may be later than is permitted.
fn fire(timers: &mut Timers<(Instant, u32)>, reference: &mut Reference, now: Instant) -> usize {
    let mut fired = 0;
    while let Some((when, number)) = timers.pop_due(now) {
        assert!(when <= now, "{number} is early");
        assert!(reference.set.remove(&(when, number)).is_some(), "{number} comes once");
        fired += 1;
    }
    let late = reference.first().filter(|first| *first + COARSE <= now);
    assert_eq!(late, None, "one is late");
    fired
}

#[test]
fn all_come_in_time_and_none_early() {
    for seed in 1..=20 {
        let mut random = Random(u64::wrapping_mul(seed, 0x9E37_79B9_7F4A_7C15));
        let start = Instant::now();
        let (mut timers, mut reference) = (Timers::new(start), Reference::default());
        let (mut now, mut number) = (start, 0);
        for _ in 0..3_000 {
            match random.next(8) {
                0..=3 => {
                    let when = now + random.time();
                    let id = timers.set(when, (when, number));
                    reference.set.insert((when, number), id);
                    number += 1;
                }
                4..=5 if !reference.set.is_empty() => {
                    let nth = random.next(reference.set.len() as u64) as usize;
                    let (key, id) = reference.set.iter().nth(nth).map(|(key, id)| (*key, *id)).unwrap();
                    assert_eq!(timers.cancel(id), Some(key));
                    assert_eq!(timers.cancel(id), None);
                    reference.set.remove(&key);
                }
                6 => {
                    now += random.time();
                    fire(&mut timers, &mut reference, now);
                }
                _ => {
                    // As a driver does: sleep until the returned moment, as often as it takes.
                    let Some(first) = reference.first() else { continue };
                    for round in 0.. {
                        let next = timers.next().expect("one is set");
                        assert!(next <= first.max(now) + COARSE, "the first one is slept through");
                        now = now.max(next);
                        if fire(&mut timers, &mut reference, now) != 0 {
                            break;
                        }
                        assert!(round < 10, "it is looked at in vain again and again");
                    }
                }
            }
            assert_eq!(timers.len(), reference.set.len());
            assert_eq!(timers.next().is_some(), !reference.set.is_empty());
        }
    }
}

#[test]
fn timers_of_one_moment_are_due_in_the_order_of_arming() {
    let start = Instant::now();
    let mut timers = Timers::new(start);
    let when = start + Duration::from_secs(3);
    for number in 0..100 {
        timers.set(when, number);
    }
    assert_eq!(timers.pop_due(when - Duration::from_millis(1)), None);
    let order: Vec<_> = std::iter::from_fn(|| timers.pop_due(when + COARSE)).collect();
    assert!(order.into_iter().eq(0..100));
}

#[test]
fn the_past_is_due_and_the_clocks_end_is_not() {
    let start = Instant::now();
    let mut timers = Timers::new(start);
    timers.set(start - Duration::from_secs(1), "past");
    let years = start + Duration::from_secs(500 * 365 * 86_400);
    let far = timers.set(years, "far");
    // The same moment may be asked for several times.
    assert_eq!(timers.pop_due(start), Some("past"));
    assert_eq!((timers.pop_due(start), timers.pop_due(start)), (None, None));
    assert!(timers.next() > Some(years - Duration::from_secs(1)));
    assert_eq!(timers.pop_due(start + Duration::from_secs(86_400)), None);
    assert_eq!(timers.cancel(far), Some("far"));
    assert_eq!(timers.next(), None);
}

#[test]
fn cancelled_timers_do_not_take_memory() {
    let start = Instant::now();
    let mut timers = Timers::new(start);
    let names: std::collections::HashSet<_> = (0..100_000)
        .map(|nanos| {
            let id = timers.set(start + Duration::from_nanos(nanos << 20), ());
            assert_eq!(timers.cancel(id), Some(()));
            format!("{id:?}")
        })
        .collect();
    assert_eq!(names.len(), 100_000, "no name is used twice");
    assert_eq!((timers.slab.capacity(), timers.chunks.capacity()), (1, 1));
}

#[test]
fn the_near_are_exact_and_the_far_are_due_together() {
    let start = Instant::now();
    let late = |time: Duration| {
        let mut timers = Timers::new(start);
        timers.set(start + time, ());
        timers.next().expect("one is set") - (start + time)
    };
    for micros in 1..1_000 {
        let near = Duration::from_micros(micros);
        assert!(late(near) <= (near / 64).max(PRECISION), "{micros}");
        let time = Duration::from_micros(micros * 7_919);
        assert!(late(time) <= (time / 64).min(COARSE).max(PRECISION), "{time:?}");
    }
    let mut timers = Timers::new(start);
    let moments = 0..1_000_u64;
    for moment in moments.clone() {
        timers.set(start + Duration::from_nanos(1_000_000_000 + moment * 10_000), ());
    }
    let mut wakes = 0;
    while let Some(next) = timers.next() {
        wakes += 1;
        while timers.pop_due(next).is_some() {}
    }
    assert!(wakes <= 25, "10 ms are few moments, a second off: {wakes}");
}
