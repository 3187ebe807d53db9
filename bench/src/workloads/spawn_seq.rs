//! `spawn_seq`: a fiber spawns another one and joins it, and then the next. There is never more
//! than one. Each returns its number; the numbers are added up and checked.

use super::{Entry, Job, Metric, Readings, Workload, both, check_sum, fibers};
use crate::peers;
use crate::runtimes;
use may::go;
use sinew::fiber;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "spawn_seq",
    what: "spawn + join of fibers one after another",
    single_threaded: false,
    metrics: &[
        Metric { name: "ns", unit: "ns a fiber", lower_is_better: true },
        Metric { name: "cpu_ns", unit: "ns of processor time a fiber", lower_is_better: true },
    ],
    entries: &[
        &fibers(fibers_of),
        &[
            Entry::here(&peers::TOKIO, tokio),
            Entry::here(&peers::MAY, may),
            Entry::foreign(&peers::BOOST),
            Entry::foreign(&peers::GO),
        ],
    ],
};

fn fibers_of(job: &Job) -> Readings {
    let runtime = &runtimes::fibers(job);
    let one = |i| fiber::spawn(move || i).join().expect("it does not panic");
    cost_of(job, |n| runtime.run(move || (0..n).map(one).sum()))
}

fn tokio(job: &Job) -> Readings {
    let runtime = runtimes::tokio(job.threads);
    let all = |n| async move {
        let mut sum = 0;
        for i in 0..n {
            sum += tokio::spawn(async move { i }).await.expect("it does not panic");
        }
        sum
    };
    cost_of(job, |n| runtimes::in_tokio(&runtime, all(n)))
}

fn may(job: &Job) -> Readings {
    let may = runtimes::may(job.threads);
    let one = |i| go!(move || i).join().expect("it does not panic");
    cost_of(job, |n| may.run(move || (0..n).map(one).sum()))
}

/// Times one fiber. `all` runs the given number and returns the sum of their numbers.
fn cost_of(job: &Job, all: impl Fn(u64) -> u64) -> Readings {
    both(job.pace.cost_per_op(|n| check_sum(all(n), 0, n)))
}
