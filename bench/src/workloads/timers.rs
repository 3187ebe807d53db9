//! `timers_100k`, `timers_1000k`: 100,000 or 1,000,000 fibers sleep, each for a time of its own
//! between nothing and a second (10,000 of them, up to a tenth, in a quick run). The headline is
//! how late they are, the 99th percentile of the time from when a fiber should run until it does.
//! Beside it stand the processor time of the whole round, and how long after the second the last
//! one was done. For ours, also the processor time of a second round, which finds the memory that
//! the first has used. `timer-thread` is ours with a thread for timers.
//!
//! Memory for the round is held before it and given back just then, as in `parked` and in about the
//! amount that one takes: the page faults that are counted are those of this machine, not of its
//! host.
//!
//! A fiber should run at the moment for which it was asked, plus the time that it sleeps: the time
//! of spawning is part of the processor time only.

use super::wake::{quantile, sorted};
use super::{Entry, Job, Metric, Readings, Workload, fibers};
use crate::mapping::{PAGE, Reserve};
use crate::peers;
use crate::runtimes;
use crate::timer_thread::TimerThread;
use crate::usage::cpu_time;
use sinew::fiber;
use std::time::{Duration, Instant};

const METRICS: &[Metric] = &[
    Metric { name: "late_p99_ms", unit: "ms late, 99th percentile", lower_is_better: true },
    Metric { name: "late_p50_ms", unit: "ms late, median", lower_is_better: true },
    Metric { name: "cpu_ms", unit: "ms of processor time", lower_is_better: true },
    Metric { name: "warm_cpu_ms", unit: "ms of processor time, memory warm", lower_is_better: true },
    Metric { name: "overrun_ms", unit: "ms until all are done, after a second", lower_is_better: true },
];

/// The table of `timers_100k`.
pub(super) static FEWER: Workload = Workload {
    name: "timers_100k",
    what: "100,000 fibers sleep for up to a second",
    single_threaded: false,
    metrics: METRICS,
    entries: &[
        &fibers(|job| fibers_of(job, 100_000)),
        &[
            Entry::here(&peers::TIMER_THREAD, |job| timer_thread(job, 100_000)),
            Entry::here(&peers::TOKIO, |job| tokio(job, 100_000)),
            Entry::foreign(&peers::GO),
        ],
    ],
};

/// The table of `timers_1000k`.
pub(super) static MORE: Workload = Workload {
    name: "timers_1000k",
    what: "1,000,000 fibers sleep for up to a second",
    single_threaded: false,
    metrics: METRICS,
    entries: &[
        &fibers(|job| fibers_of(job, 1_000_000)),
        &[
            Entry::here(&peers::TIMER_THREAD, |job| timer_thread(job, 1_000_000)),
            Entry::here(&peers::TOKIO, |job| tokio(job, 1_000_000)),
            Entry::foreign(&peers::GO),
        ],
    ],
};

/// How many fibers sleep, and the longest sleep.
#[derive(Clone, Copy)]
struct Scale {
    timers: u32,
    longest: Duration,
}

impl Scale {
    fn new(job: &Job, timers: u32) -> Self {
        match job.pace.is_quick() {
            true => Self { timers: 10_000, longest: Duration::from_millis(100) },
            false => Self { timers, longest: Duration::from_secs(1) },
        }
    }

    /// Returns the times of all, in an irregular order: multiples of an odd constant, so that they
    /// are spread evenly.
    fn times(self) -> impl Iterator<Item = Duration> {
        let nanos = self.longest.as_nanos() as u64;
        (0..self.timers).map(move |number| {
            let fraction = u64::from(number.wrapping_mul(0x9E37_79B1));
            Duration::from_nanos((fraction * nanos) >> 32)
        })
    }
}

/// The results of a round.
struct Round {
    late: Vec<f64>,
    cpu: Duration,
    overrun: Duration,
}

/// What one takes, in bytes, and how far apart its pages are.
#[derive(Clone, Copy)]
struct Takes {
    bytes: usize,
    stride: usize,
}

/// One of ours: a page of a stack of 128 KiB, and some more for all that is kept of it.
const FIBER: Takes = Takes { bytes: PAGE + 640, stride: 128 * 1024 + 2 * PAGE };
const TASK: Takes = Takes { bytes: 640, stride: PAGE };

/// Times a round. `all` runs it and returns how late each fiber was, in milliseconds. Before the
/// round, the memory of one fiber for each is given back, unless the round should find memory that
/// others used.
fn round(scale: Scale, one: Option<Takes>, all: impl FnOnce() -> Vec<f64>) -> Round {
    drop(one.map(|one| Reserve::new(one.bytes * scale.timers as usize, one.stride)));
    let (begun, cpu) = (Instant::now(), cpu_time());
    let late = all();
    let (time, cpu) = (begun.elapsed(), cpu_time() - cpu);
    assert_eq!(late.len(), scale.timers as usize, "all have slept");
    assert!(late.iter().all(|late| *late >= 0.0), "no fiber has slept for less than its time");
    Round { late: sorted(late), cpu, overrun: time.saturating_sub(scale.longest) }
}

impl Round {
    fn readings(&self) -> Readings {
        vec![
            ("late_p99_ms", quantile(&self.late, 0.99)),
            ("late_p50_ms", quantile(&self.late, 0.5)),
            ("cpu_ms", self.cpu.as_secs_f64() * 1e3),
            ("overrun_ms", self.overrun.as_secs_f64() * 1e3),
        ]
    }
}

fn lateness(due: Instant) -> f64 {
    let now = Instant::now();
    now.duration_since(due).as_secs_f64() * 1e3 - due.saturating_duration_since(now).as_secs_f64() * 1e3
}

fn fibers_of(job: &Job, timers: u32) -> Readings {
    sleepers(job, timers, fiber::sleep)
}

fn timer_thread(job: &Job, timers: u32) -> Readings {
    // Never freed: fibers share it, and the process ends with them.
    let thread: &TimerThread = Box::leak(Box::new(TimerThread::start()));
    sleepers(job, timers, |time| thread.sleep_until(Instant::now() + time))
}

fn sleepers(job: &Job, timers: u32, sleep: impl Fn(Duration) + Copy + Send + 'static) -> Readings {
    let (runtime, scale) = (runtimes::fibers(job), Scale::new(job, timers));
    let all = move || {
        let sleep = |time| {
            fiber::spawn(move || {
                let due = Instant::now() + time;
                sleep(time);
                lateness(due)
            })
        };
        let fibers: Vec<_> = scale.times().map(sleep).collect();
        fibers.into_iter().map(|fiber| fiber.join().expect("it does not panic")).collect()
    };
    let mut readings = round(scale, Some(FIBER), || runtime.run(all)).readings();
    let warm = round(scale, None, || runtime.run(all));
    readings.push(("warm_cpu_ms", warm.cpu.as_secs_f64() * 1e3));
    readings
}

fn tokio(job: &Job, timers: u32) -> Readings {
    let (runtime, scale) = (runtimes::tokio(job.threads), Scale::new(job, timers));
    let all = async move {
        let sleep = |time| {
            tokio::spawn(async move {
                let due = Instant::now() + time;
                tokio::time::sleep(time).await;
                lateness(due)
            })
        };
        let tasks: Vec<_> = scale.times().map(sleep).collect();
        let mut late = Vec::with_capacity(tasks.len());
        for task in tasks {
            late.push(task.await.expect("it does not panic"));
        }
        late
    };
    round(scale, Some(TASK), || runtimes::in_tokio(&runtime, all)).readings()
}
