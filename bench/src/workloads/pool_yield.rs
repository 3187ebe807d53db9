//! `pool_yield`: 1,000 tasks yield in turn, 5,000,000 times in all (100,000 in a quick run). In the
//! headline any worker may take them. Beside it stand its processor time, and tasks that stay on
//! their core, spread evenly. Starting and ending the tasks is part of it: one in 5,000.

use super::{Entry, Job, Metric, Readings, Workload, both, pools};
use crate::pace::Cost;
use crate::peers;
use crate::runtimes;
use crate::yielder::{Yielders, Yields};
use sinew_sched::{Placement, TaskRef};

/// Tasks of a round.
pub(super) const TASKS: usize = 1_000;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "pool_yield",
    what: "1,000 tasks yield in turn, 5M in all",
    single_threaded: false,
    metrics: &[
        Metric { name: "ns", unit: "ns a yield", lower_is_better: true },
        Metric { name: "cpu_ns", unit: "ns of processor time a yield", lower_is_better: true },
        Metric { name: "pinned_ns", unit: "ns a yield, on its core", lower_is_better: true },
    ],
    entries: &[&pools(sinew), &[Entry::here(&peers::TOKIO, tokio), Entry::foreign(&peers::GO)]],
};

/// Returns how often each task yields in a round.
pub(super) fn yields(job: &Job) -> u32 {
    if job.pace.is_quick() { 100 } else { 5_000 }
}

fn sinew(job: &Job) -> Readings {
    let pool = runtimes::pool(job);
    let handle = pool.handle();
    let anyones = rounds(job, Yields::ToAnyone, |tasks| {
        handle.submit_batch(tasks, Placement::Anyone).expect("the pool is open");
    });
    let pinned = rounds(job, Yields::Here, |tasks| {
        for (number, task) in tasks.enumerate() {
            let place = Placement::Worker(number % job.threads);
            handle.submit(task, place).expect("the pool is open");
        }
    });
    runtimes::end_sinew(pool);
    vec![("ns", anyones.ns), ("cpu_ns", anyones.cpu_ns), ("pinned_ns", pinned.ns)]
}

/// Times one yield of ours. `submit` starts the tasks of a round.
fn rounds(job: &Job, to: Yields, submit: impl Fn(&mut dyn Iterator<Item = TaskRef>)) -> Cost {
    let mut yielders = Yielders::new(TASKS, to);
    of_one(job, |_| {
        submit(&mut yielders.start(yields(job)));
        yielders.wait();
    })
}

/// Times one yield. `round` does a whole round.
pub(super) fn of_one(job: &Job, mut round: impl FnMut(u64)) -> Cost {
    job.pace.cost_per_op(|rounds| (0..rounds).for_each(&mut round)).divided_by(TASKS * yields(job) as usize)
}

/// Tokio's part, which is also that of `yield`.
pub(super) fn tokio(job: &Job) -> Readings {
    let runtime = runtimes::tokio(job.threads);
    let yields = yields(job);
    let task = || async move {
        for _ in 0..yields {
            tokio::task::yield_now().await;
        }
    };
    let cost = of_one(job, |_| {
        let tasks: Vec<_> = (0..TASKS).map(|_| runtime.spawn(task())).collect();
        runtime.block_on(async {
            for task in tasks {
                task.await.expect("it does not panic");
            }
        });
    });
    both(cost)
}
