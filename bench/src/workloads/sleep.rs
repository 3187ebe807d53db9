//! `sleep`: one fiber sleeps again and again, each time for something between nothing and a
//! millisecond. The figure is how much longer a sleep took than it was asked for. `timer-thread` is
//! ours with a thread for timers in place of the workers' own.

use super::wake::{quantile, sorted};
use super::{Entry, Job, Metric, Readings, Workload, fibers};
use crate::pace::Pace;
use crate::peers;
use crate::runtimes;
use crate::timer_thread::TimerThread;
use sinew::fiber;
use std::thread;
use std::time::{Duration, Instant};

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "sleep",
    what: "a fiber sleeps for up to a millisecond",
    single_threaded: false,
    metrics: &[
        Metric { name: "over_p50_us", unit: "µs longer than asked for, median", lower_is_better: true },
        Metric {
            name: "over_p99_us",
            unit: "µs longer than asked for, 99th percentile",
            lower_is_better: true,
        },
        Metric { name: "cpu_ms", unit: "ms of processor time, start to end", lower_is_better: true },
    ],
    entries: &[
        &fibers(fibers_of),
        &[
            Entry::here(&peers::TIMER_THREAD, timer_thread),
            Entry::here(&peers::TOKIO, tokio),
            Entry::here(&peers::MAY, may),
            Entry::here(&peers::THREADS, threads),
            Entry::foreign(&peers::GO),
        ],
    ],
};

fn times(job: &Job) -> u32 {
    match job.pace {
        Pace::Exactly(times) => times as u32,
        Pace::AtLeast(_) if job.pace.is_quick() => 50,
        Pace::AtLeast(_) => 1_000,
    }
}

/// Returns the times to sleep for, in an irregular order.
fn durations(job: &Job) -> impl Iterator<Item = Duration> + use<> {
    let fraction = |number: u32| u64::from(number.wrapping_mul(0x9E37_79B1));
    (0..times(job)).map(move |number| Duration::from_nanos((fraction(number) * 1_000_000) >> 32))
}

/// Returns how many microseconds the sleep took beyond the time that was asked for.
fn over(asked: Duration, begun: Instant) -> f64 {
    let taken = begun.elapsed();
    assert!(taken >= asked, "a sleep is never shorter than asked for");
    (taken - asked).as_secs_f64() * 1e6
}

fn readings(over: Vec<f64>) -> Readings {
    let over = sorted(over);
    vec![("over_p50_us", quantile(&over, 0.5)), ("over_p99_us", quantile(&over, 0.99))]
}

/// Sleeps for all the times, with `sleep`.
fn all(job: &Job, sleep: impl Fn(Duration)) -> Vec<f64> {
    let once = |time| {
        let begun = Instant::now();
        sleep(time);
        over(time, begun)
    };
    durations(job).map(once).collect()
}

/// Copies what a fiber needs to know of the job.
fn copy(job: &Job) -> Job {
    Job { ..*job }
}

fn fibers_of(job: &Job) -> Readings {
    let (runtime, job) = (runtimes::fibers(job), copy(job));
    readings(runtime.run(move || all(&job, fiber::sleep)))
}

fn timer_thread(job: &Job) -> Readings {
    let (runtime, job, timers) = (runtimes::fibers(job), copy(job), TimerThread::start());
    readings(runtime.run(move || all(&job, |time| timers.sleep_until(Instant::now() + time))))
}

fn tokio(job: &Job) -> Readings {
    let (runtime, times) = (runtimes::tokio(job.threads), durations(job));
    let all = async move {
        let mut all = Vec::new();
        for time in times {
            let begun = Instant::now();
            tokio::time::sleep(time).await;
            all.push(over(time, begun));
        }
        all
    };
    readings(runtimes::in_tokio(&runtime, all))
}

fn may(job: &Job) -> Readings {
    let (runtime, job) = (runtimes::may(job.threads), copy(job));
    readings(runtime.run(move || all(&job, may::coroutine::sleep)))
}

fn threads(job: &Job) -> Readings {
    readings(all(job, thread::sleep))
}
