//! `spawn_batch_100k`: a fiber spawns 100,000 fibers that end at once, and joins all of them. It is
//! `pool_submit` with fibers and joins. A peer that has no fibers, or whose tasks are its fibers,
//! does the same in both.

use super::pool_submit::{self, TASKS as FIBERS};
use super::{Entry, Job, Metric, Readings, Workload, both, fibers};
use crate::peers;
use crate::runtimes;
use may::go;
use sinew::fiber;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "spawn_batch_100k",
    what: "100,000 fibers spawned by a fiber, and all joined",
    single_threaded: false,
    metrics: &[
        Metric { name: "ns", unit: "ns a fiber", lower_is_better: true },
        Metric { name: "cpu_ns", unit: "ns of processor time a fiber", lower_is_better: true },
    ],
    entries: &[
        &fibers(fibers_of),
        &[
            Entry::here(&peers::TOKIO, tokio),
            Entry::here(&peers::MAY, may).deviating(&[("joined", "after every 20,000")]),
            Entry::here(&peers::RAYON, pool_submit::rayon),
            Entry::foreign(&peers::BOOST),
            Entry::foreign(&peers::GO),
        ],
    ],
};

fn fibers_of(job: &Job) -> Readings {
    let runtime = &runtimes::fibers(job);
    let cost = job.pace.cost_per_op(|rounds| runtime.run(move || (0..rounds).for_each(|_| spawn_and_join())));
    both(cost.divided_by(FIBERS))
}

/// A round of ours, by the calling fiber.
pub(super) fn spawn_and_join() {
    let fibers: Vec<_> = (0..FIBERS).map(|_| fiber::spawn(|| ())).collect();
    fibers.into_iter().for_each(|fiber| fiber.join().expect("it does not panic"));
}

fn tokio(job: &Job) -> Readings {
    both(pool_submit::spawn_by_a_task(job, &runtimes::tokio(job.threads)))
}

/// A stack of may takes two mappings, for itself and for its guard, of which Linux allows a process
/// 65,530. With 100,000 stacks the process would end. So there are fewer at a time, and fewer
/// rounds in a quick run.
fn may(job: &Job) -> Readings {
    let may = runtimes::may(job.threads);
    let times = if job.pace.is_quick() { 1 } else { FIBERS / MAYS_AT_A_TIME };
    let round = move || (0..times).for_each(|_| spawn_mays());
    let cost = job.pace.cost_per_op(|rounds| may.run(move || (0..rounds).for_each(|_| round())));
    both(cost.divided_by(times * MAYS_AT_A_TIME))
}

const MAYS_AT_A_TIME: usize = 20_000;

/// Spawns as many of may's coroutines as there can be at a time, from the calling coroutine.
pub(super) fn spawn_mays() {
    let fibers: Vec<_> = (0..MAYS_AT_A_TIME).map(|_| go!(|| ())).collect();
    fibers.into_iter().for_each(|fiber| fiber.join().expect("it does not panic"));
}
