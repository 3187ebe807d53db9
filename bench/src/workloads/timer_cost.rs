//! `timer_set`, `timer_kill`, `timer_expiry`: the time to arm a timer, to cancel one, and to have
//! one call back, while a given number of others is pending. The costs should be the same for any
//! number.

use super::wake::{quantile, sorted};
use super::{Job, Metric, Readings, Workload, fibers};
use crate::runtimes;
use sinew::fiber;
use sinew::time::{Schedule, Timer};
use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const METRICS: &[Metric] = &[
    Metric { name: "ns_1000k", unit: "ns with 1,000,000 pending", lower_is_better: true },
    Metric { name: "ns_100k", unit: "ns with 100,000 pending", lower_is_better: true },
    Metric { name: "ns_10k", unit: "ns with 10,000 pending", lower_is_better: true },
    Metric { name: "ns_1k", unit: "ns with 1,000 pending", lower_is_better: true },
    Metric { name: "ns_0.1k", unit: "ns with 100 pending", lower_is_better: true },
];

/// Measures arming.
pub(super) static SET: Workload = Workload {
    name: "timer_set",
    what: "a timer is armed, beside many others",
    single_threaded: true,
    metrics: METRICS,
    entries: &[&fibers(|job| all(job, set))],
};

/// Measures cancelling.
pub(super) static KILL: Workload = Workload {
    name: "timer_kill",
    what: "a timer is cancelled, beside many others",
    single_threaded: true,
    metrics: METRICS,
    entries: &[&fibers(|job| all(job, kill))],
};

/// Measures expiry.
pub(super) static EXPIRY: Workload = Workload {
    name: "timer_expiry",
    what: "a timer calls back, beside many others",
    single_threaded: true,
    metrics: METRICS,
    entries: &[&fibers(|job| all(job, expire))],
};

/// An hour in milliseconds.
const HOUR: u64 = 3_600_000;

/// How many timers are armed, cancelled or due at a time.
const ROUND: usize = 1_000;
/// How many rounds there are.
const ROUNDS: usize = 21;

/// Returns what a round takes, in seconds.
type Measure = fn(&Timers) -> f64;

struct Timers {
    round: Vec<Timer>,
    called: Arc<AtomicU32>,
}

/// Returns moments within an hour, in an irregular order.
fn within_an_hour(number: usize) -> Schedule {
    let fraction = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    Schedule::after(Duration::from_secs(10) + Duration::from_millis((fraction * HOUR) >> 32))
}

fn all(job: &Job, measure: Measure) -> Readings {
    let most = if job.pace.is_quick() { 10_000 } else { usize::MAX };
    let sizes = [
        ("ns_0.1k", 100),
        ("ns_1k", 1_000),
        ("ns_10k", 10_000),
        ("ns_100k", 100_000),
        ("ns_1000k", 1_000_000),
    ];
    let runtime = runtimes::fibers(job);
    runtime.run(move || {
        let called = Arc::new(AtomicU32::new(0));
        let timer = || {
            let called = called.clone();
            Timer::new(move || {
                called.fetch_add(1, Ordering::Relaxed);
            })
        };
        let timers = Timers { round: (0..ROUND).map(|_| timer()).collect(), called: called.clone() };
        let mut pending = Vec::new();
        let mut reading = |(name, size): (&'static str, usize)| {
            while pending.len() < size.min(most) {
                let timer = timer();
                timer.arm(within_an_hour(pending.len()));
                pending.push(timer);
            }
            let rounds = sorted((0..ROUNDS).map(|_| measure(&timers)).collect());
            (name, quantile(&rounds, 0.5) * 1e9 / ROUND as f64)
        };
        sizes.into_iter().map(&mut reading).collect()
    })
}

fn arm_all(timers: &Timers) -> f64 {
    let begun = Instant::now();
    assert!(timers.round.iter().enumerate().all(|(number, timer)| !timer.arm(within_an_hour(number))));
    begun.elapsed().as_secs_f64()
}

fn cancel_all(timers: &Timers) -> f64 {
    let begun = Instant::now();
    assert!(timers.round.iter().all(Timer::cancel));
    begun.elapsed().as_secs_f64()
}

fn set(timers: &Timers) -> f64 {
    let time = arm_all(timers);
    cancel_all(timers);
    time
}

fn kill(timers: &Timers) -> f64 {
    arm_all(timers);
    cancel_all(timers)
}

/// Measures from when all are due until all have been called, on the one worker, which this fiber
/// keeps busy until then.
fn expire(timers: &Timers) -> f64 {
    let due = Instant::now() + Duration::from_millis(2);
    timers.called.store(0, Ordering::Relaxed);
    assert!(timers.round.iter().all(|timer| !timer.arm(Schedule::at(due))));
    while Instant::now() < due + Duration::from_millis(1) {
        hint::spin_loop();
    }
    let begun = Instant::now();
    while timers.called.load(Ordering::Relaxed) < ROUND as u32 {
        fiber::yield_now();
    }
    begun.elapsed().as_secs_f64()
}
