//! `wake`: a thread outside the runtime unparks a fiber when all workers have been asleep for a
//! while. The figure is the time from before the call until the fiber runs. The thread itself
//! sleeps meanwhile, as most threads that ask do. It is `pool_wake` with a fiber that existed
//! before. The peer `threads` is a thread that is unparked: what a futex takes.
//!
//! For ours, also the time while a worker is searching, which should take no system call: the
//! thread asks again as soon as the fiber has parked. It does so a million times (1,000 in a quick
//! run), and the wakes among them are counted. In the end, this count is compared with the number
//! of writes of the process, since a sleeping worker is woken by a write.

use super::{Entry, Job, Metric, Readings, Workload, fibers};
use crate::bell::{Bell, Wish};
use crate::pace::Pace;
use crate::peers;
use crate::runtimes;
use crate::usage::writes;
use may::{coroutine, go};
use sinew::{Runtime, fiber};
use std::hint;
use std::thread;
use std::time::Duration;
use tokio::sync::Notify;

/// How long all are left alone before one is woken: much longer than any worker searches, and than
/// a tick of any driver.
const PAUSE: Duration = Duration::from_millis(3);

/// Returns how often a searching worker is asked.
pub(super) fn spinning_times(job: &Job) -> usize {
    if job.pace.is_quick() { 1_000 } else { 1_000_000 }
}

/// For this number of nanoseconds after it has run out of fibers, a worker still searches.
pub(super) const SEARCH: u64 = 30_000;

/// What is reported of a wake-up, of a fiber or of a task.
pub(super) const METRICS: &[Metric] = &[
    Metric { name: "p50_us", unit: "µs until it runs, median", lower_is_better: true },
    Metric { name: "p99_us", unit: "µs until it runs, 99th percentile", lower_is_better: true },
    Metric { name: "spinning_ns", unit: "ns until it runs, a worker searching", lower_is_better: true },
    Metric {
        name: "spinning_syscalls",
        unit: "wakes in a million times, a worker searching",
        lower_is_better: true,
    },
];

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "wake",
    what: "a thread outside unparks a fiber of an idle runtime",
    single_threaded: false,
    metrics: METRICS,
    entries: &[
        &fibers(fibers_of),
        &[
            Entry::here(&peers::TOKIO, tokio),
            Entry::here(&peers::MAY, may),
            Entry::here(&peers::THREADS, threads),
        ],
    ],
};

fn fibers_of(job: &Job) -> Readings {
    let runtime = &runtimes::fibers(job);
    let bell = Bell::leaked();
    let ringer = runtime.spawn(|| bell.attend(fiber::park));
    let unpark = |_: &Bell| ringer.thread().unpark();
    let mut readings = idle(job, bell, unpark);
    readings.extend(spinning(job, runtime, bell, unpark));
    bell.end();
    unpark(bell);
    ringer.join().expect("it does not panic");
    readings
}

fn tokio(job: &Job) -> Readings {
    let (runtime, bell) = (runtimes::tokio(job.threads), Bell::leaked());
    // Never freed, like the bell.
    let notice: &Notify = Box::leak(Box::new(Notify::new()));
    let ringer = runtime.spawn(async {
        loop {
            match bell.wish() {
                Wish::Ring => bell.ring(),
                Wish::Sleep => notice.notified().await,
                Wish::End => return,
            }
        }
    });
    let readings = idle(job, bell, |_| notice.notify_one());
    bell.end();
    notice.notify_one();
    runtime.block_on(ringer).expect("it does not panic");
    readings
}

fn may(job: &Job) -> Readings {
    let bell = Bell::leaked();
    runtimes::may(job.threads);
    let ringer = go!(|| bell.attend(coroutine::park));
    let readings = idle(job, bell, |_| ringer.coroutine().unpark());
    bell.end();
    ringer.coroutine().unpark();
    ringer.join().expect("it does not panic");
    readings
}

/// Wakes one thread, whatever the number of threads.
fn threads(job: &Job) -> Readings {
    let bell = Bell::leaked();
    let ringer = thread::spawn(|| bell.attend(thread::park));
    let readings = idle(job, bell, |_| ringer.thread().unpark());
    bell.end();
    ringer.thread().unpark();
    ringer.join().expect("it does not panic");
    readings
}

/// Wakes idle workers again and again. `wake` makes a worker ring the bell.
pub(super) fn idle(job: &Job, bell: &'static Bell, wake: impl Fn(&'static Bell)) -> Readings {
    let once = || {
        thread::sleep(PAUSE);
        let asked = bell.ask();
        wake(bell);
        bell.wait_asleep() - asked
    };
    // The first one finds threads that have not even started.
    once();
    let micros = sorted((0..times(job)).map(|_| once() as f64 / 1e3).collect());
    vec![("p50_us", quantile(&micros, 0.5)), ("p99_us", quantile(&micros, 0.99))]
}

fn times(job: &Job) -> u64 {
    match job.pace {
        Pace::Exactly(times) => times,
        Pace::AtLeast(_) if job.pace.is_quick() => 30,
        Pace::AtLeast(_) => 400,
    }
}

/// Measures the same with a worker that searches, since its only fiber has just parked, and the
/// system calls that it took. An attempt does not count if this thread did not run for so long that
/// the worker may be asleep.
fn spinning(job: &Job, runtime: &Runtime, bell: &'static Bell, unpark: impl Fn(&'static Bell)) -> Readings {
    let (mut nanos, mut calls) = (Vec::new(), 0);
    let (first, first_write) = (runtime.stats().worker_wakes, writes());
    // The first one finds workers asleep.
    let (mut last, mut before) = (0, first);
    while nanos.len() < spinning_times(job) {
        while runtime.stats().parked == 0 {
            hint::spin_loop();
        }
        let asked = bell.ask();
        unpark(bell);
        let called = bell.now();
        let (rung, after) = (bell.wait_awake(), runtime.stats().worker_wakes);
        if called.saturating_sub(last) < SEARCH {
            nanos.push((rung - asked) as f64);
            calls += after - before;
        }
        (last, before) = (rung, after);
    }
    // A worker is woken by a write: the kernel has counted at least as many, with a few more for
    // other reasons.
    let (written, told) = (writes() - first_write, before - first);
    assert!(written.abs_diff(told) <= 10 + told / 100, "{written} writes, but {told} wakes");
    vec![("spinning_ns", quantile(&sorted(nanos), 0.5)), ("spinning_syscalls", calls as f64)]
}

pub(super) fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// Returns the value below which that part of them lies.
pub(super) fn quantile(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn quantiles_are_values_of_the_list() {
        let values: Vec<_> = (1..=101).map(f64::from).collect();
        assert_eq!((quantile(&values, 0.5), quantile(&values, 0.99)), (51.0, 100.0));
        assert_eq!(quantile(&[7.0], 0.99), 7.0);
    }
}
