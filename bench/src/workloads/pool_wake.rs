//! `pool_wake`: a thread outside the pool submits a task when all workers have been asleep for a
//! while. The figure is the time from before the submission until the task runs. The thread itself
//! sleeps meanwhile, as most threads that ask do.
//!
//! For ours, also the time while a worker is searching, which should take no system call: the
//! thread asks again as soon as the previous task has run. It does so a million times (1,000 in a
//! quick run), and the wakes among them are counted.

use super::wake::{METRICS, SEARCH, idle, quantile, sorted, spinning_times};
use super::{Entry, Job, Readings, Workload, pools};
use crate::bell::Bell;
use crate::peers;
use crate::runtimes;
use sinew_sched::{Handle, Placement, TaskRef, WorkerState};
use std::hint;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "pool_wake",
    what: "a thread outside submits a task to an idle pool",
    single_threaded: false,
    metrics: METRICS,
    entries: &[&pools(sinew), &[Entry::here(&peers::TOKIO, tokio)]],
};

fn sinew(job: &Job) -> Readings {
    let pool = runtimes::pool(job);
    let handle = pool.handle();
    let mut readings = idle(job, Bell::leaked(), |bell| submit(&handle, bell));
    readings.extend(spinning(job, &handle));
    runtimes::end_sinew(pool);
    readings
}

fn submit(handle: &Handle, bell: &'static Bell) {
    handle.submit(TaskRef::new(|_| bell.ring()), Placement::Anyone).expect("the pool is open");
}

fn tokio(job: &Job) -> Readings {
    let runtime = runtimes::tokio(job.threads);
    let handle = runtime.handle().clone();
    idle(job, Bell::leaked(), |bell| drop(handle.spawn(async { bell.ring() })))
}

/// Measures the same with a worker that searches, and how often a worker was woken. An attempt does
/// not count if this thread did not run for so long that the worker may be asleep.
fn spinning(job: &Job, handle: &Handle) -> Readings {
    let bell = Bell::leaked();
    let (mut nanos, mut wakes, mut last) = (Vec::new(), 0, 0);
    while nanos.len() < spinning_times(job) {
        let is_up = waits_for_a_searcher(handle);
        let before = handle.stats().wakes();
        let asked = bell.ask();
        submit(handle, bell);
        let called = bell.now();
        let rung = bell.wait_awake();
        if is_up && called - last < SEARCH {
            nanos.push((rung - asked) as f64);
            wakes += handle.stats().wakes() - before;
        }
        last = rung;
    }
    vec![("spinning_ns", quantile(&sorted(nanos), 0.5)), ("spinning_syscalls", wakes as f64)]
}

/// Waits until a worker searches. Returns false if none will, since all are asleep.
fn waits_for_a_searcher(handle: &Handle) -> bool {
    loop {
        let workers = handle.stats().workers;
        let any = |state| workers.iter().any(|worker| worker.state == state);
        if any(WorkerState::Searching) {
            return true;
        }
        if !any(WorkerState::Running) {
            return false;
        }
        hint::spin_loop();
    }
}
