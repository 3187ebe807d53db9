//! `blocking`: a fiber, or what a peer has in its place, runs a function on a thread that may block
//! and waits for its result, one call after another, as in a program that reads a file now and
//! then. The function does nothing, so the figure is the way there and back. The peer `threads`
//! starts a thread for each call and joins it.

use super::{Entry, Job, Metric, Readings, Workload, both, check_sum, fibers};
use crate::peers;
use crate::runtimes;
use std::thread;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "blocking",
    what: "a call that may block, done elsewhere and waited for",
    single_threaded: false,
    metrics: &[
        Metric { name: "ns", unit: "ns a call", lower_is_better: true },
        Metric { name: "cpu_ns", unit: "ns of processor time a call", lower_is_better: true },
    ],
    entries: &[&fibers(sinew), &[Entry::here(&peers::TOKIO, tokio), Entry::here(&peers::THREADS, threads)]],
};

fn sinew(job: &Job) -> Readings {
    let runtime = runtimes::fibers(job);
    let all = |n| runtime.run(move || (0..n).map(|i| sinew::blocking(move || i)).sum());
    calls(job, all)
}

fn tokio(job: &Job) -> Readings {
    let runtime = runtimes::tokio(job.threads);
    let all = |n| async move {
        let mut sum = 0;
        for i in 0..n {
            sum += tokio::task::spawn_blocking(move || i).await.expect("it does not panic");
        }
        sum
    };
    calls(job, |n| runtimes::in_tokio(&runtime, all(n)))
}

fn threads(job: &Job) -> Readings {
    let call = |i| thread::spawn(move || i).join().expect("it does not panic");
    calls(job, |n| (0..n).map(call).sum())
}

/// Times one call. `all` makes the given number of calls, which return 0, 1, 2, ..., and returns
/// their sum.
fn calls(job: &Job, all: impl Fn(u64) -> u64) -> Readings {
    both(job.pace.cost_per_op(|n| check_sum(all(n), 0, n)))
}
