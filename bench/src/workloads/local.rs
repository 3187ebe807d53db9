//! `local`: a fiber reads and writes a value of its own, by a key. The figure is the time of one
//! use; beside it stands that of a thread-local of std. The peers' values belong to a task or a
//! thread.

use super::{Entry, Job, Metric, Readings, Workload, fibers};
use crate::peers;
use crate::runtimes;
use std::cell::Cell;
use std::hint::black_box;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "local",
    what: "a fiber uses a value of its own",
    single_threaded: true,
    metrics: &[Metric { name: "ns", unit: "ns a use", lower_is_better: true }],
    entries: &[
        &fibers(fibers_of),
        &[Entry::here(&peers::TOKIO, tokio), Entry::here(&peers::THREADS, threads)],
    ],
};

sinew::fiber_local! {
    static OF_FIBER: Cell<u64> = const { Cell::new(0) };
}

tokio::task_local! {
    static OF_TASK: Cell<u64>;
}

thread_local! {
    static OF_THREAD: Cell<u64> = const { Cell::new(0) };
}

fn fibers_of(job: &Job) -> Readings {
    let (runtime, pace) = (runtimes::fibers(job), job.pace);
    vec![("ns", runtime.run(move || pace.ns_per_op(|n| (0..n).for_each(|_| OF_FIBER.with(add)))))]
}

fn tokio(job: &Job) -> Readings {
    let (runtime, pace) = (runtimes::tokio(job.threads), job.pace);
    let all = async move { pace.ns_per_op(|n| (0..n).for_each(|_| OF_TASK.with(add))) };
    vec![("ns", runtimes::in_tokio(&runtime, OF_TASK.scope(Cell::new(0), all)))]
}

fn threads(job: &Job) -> Readings {
    vec![("ns", job.pace.ns_per_op(|n| (0..n).for_each(|_| OF_THREAD.with(add))))]
}

fn add(value: &Cell<u64>) {
    value.set(black_box(value.get()) + 1);
}
