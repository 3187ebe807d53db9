//! `yield`: 1,000 fibers yield in turn, 5,000,000 times in all (100,000 in a quick run), with the
//! processor time beside it. Starting and ending the fibers is part of it: one in 5,000. It is
//! `pool_yield` with stacks to switch.

use super::pool_yield::{self, TASKS as FIBERS, of_one, yields};
use super::{Entry, Job, Metric, Readings, Workload, both, fibers};
use crate::peers;
use crate::runtimes;
use may::coroutine::yield_now;
use may::go;
use sinew::fiber;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "yield",
    what: "1,000 fibers yield in turn, 5M in all",
    single_threaded: false,
    metrics: &[
        Metric { name: "ns", unit: "ns a yield", lower_is_better: true },
        Metric { name: "cpu_ns", unit: "ns of processor time a yield", lower_is_better: true },
    ],
    entries: &[
        &fibers(fibers_of),
        &[
            Entry::here(&peers::TOKIO, pool_yield::tokio),
            Entry::here(&peers::MAY, may),
            Entry::foreign(&peers::BOOST),
            Entry::foreign(&peers::GO),
        ],
    ],
};

fn fibers_of(job: &Job) -> Readings {
    let runtime = &runtimes::fibers(job);
    let yields = yields(job);
    both(of_one(job, |_| {
        runtime.run(move || {
            let fiber = || fiber::spawn(move || (0..yields).for_each(|_| fiber::yield_now()));
            let fibers: Vec<_> = (0..FIBERS).map(|_| fiber()).collect();
            fibers.into_iter().for_each(|fiber| fiber.join().expect("it does not panic"));
        });
    }))
}

/// The coroutines are started by another one. A worker of may looks for new ones only when it has
/// none. Coroutines that a thread outside started first would be done before the rest began.
fn may(job: &Job) -> Readings {
    let may = runtimes::may(job.threads);
    let yields = yields(job);
    both(of_one(job, |_| {
        may.run(move || {
            let fiber = || go!(move || (0..yields).for_each(|_| yield_now()));
            let fibers: Vec<_> = (0..FIBERS).map(|_| fiber()).collect();
            fibers.into_iter().for_each(|fiber| fiber.join().expect("it does not panic"));
        });
    }))
}
