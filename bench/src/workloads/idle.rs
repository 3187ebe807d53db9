//! `idle`: what a runtime does when there is nothing to do, in 3 seconds (0.3 in a quick run) after
//! 100,000 fibers that were spawned and joined. The headline is the processor time of the whole
//! process in this time. Beside it stands how often its threads went off a processor, each of which
//! is a wake-up. It is `pool_idle` with fibers.

use super::{Entry, Job, Metric, Readings, Workload, fibers, pool_submit, spawn_batch_100k};
use crate::peers;
use crate::runtimes;
use crate::usage::{context_switches, cpu_time};
use std::thread;
use std::time::Duration;

/// How long threads have to settle before that. Every searching worker has long given up then. Of a
/// running thread, the kernel has counted the time only up to its last tick.
const SETTLING: Duration = Duration::from_millis(100);

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "idle",
    what: "3 s of idleness after 100,000 fibers",
    single_threaded: false,
    metrics: &[
        Metric { name: "cpu_ms", unit: "ms of processor time", lower_is_better: true },
        Metric { name: "wakeups", unit: "context switches", lower_is_better: true },
    ],
    entries: &[
        &fibers(fibers_of),
        &[
            Entry::here(&peers::TOKIO, tokio),
            Entry::here(&peers::MAY, may).deviating(&[("fibers", "20,000")]),
            Entry::foreign(&peers::GO),
        ],
    ],
};

fn fibers_of(job: &Job) -> Readings {
    let runtime = &runtimes::fibers(job);
    runtime.run(spawn_batch_100k::spawn_and_join);
    idleness(job)
}

/// Tokio's part, which is also that of `pool_idle`.
pub(super) fn tokio(job: &Job) -> Readings {
    let runtime = runtimes::tokio(job.threads);
    pool_submit::spawn_from_outside(&runtime);
    idleness(job)
}

fn may(job: &Job) -> Readings {
    runtimes::may(job.threads).run(spawn_batch_100k::spawn_mays);
    idleness(job)
}

/// Does nothing, and measures what the other threads do.
pub(super) fn idleness(job: &Job) -> Readings {
    thread::sleep(SETTLING);
    let switches = context_switches();
    // Reading the kernel's counters of many threads takes time itself, so it stays outside.
    let quiet = cpu_time();
    thread::sleep(Duration::from_millis(if job.pace.is_quick() { 300 } else { 3_000 }));
    let cpu = cpu_time() - quiet;
    let wakeups = context_switches() - switches;
    vec![("cpu_ms", cpu.as_secs_f64() * 1e3), ("wakeups", wakeups as f64)]
}
