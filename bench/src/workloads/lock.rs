//! `lock`: an uncontended mutex is locked and unlocked, again and again, and the number in it
//! counted up. A fiber locks ours, may's and tokio's are locked by a coroutine and a task, the
//! others by a thread.

use super::{Entry, Job, Metric, Readings, Workload};
use crate::peers;
use crate::runtimes;
use std::hint::black_box;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "lock",
    what: "lock + unlock of an uncontended mutex",
    single_threaded: true,
    metrics: &[Metric { name: "ns", unit: "ns to lock and unlock", lower_is_better: true }],
    entries: &[&[
        Entry::here(&peers::SINEW, sinew),
        Entry::here(&peers::TOKIO, tokio),
        Entry::here(&peers::MAY, may),
        Entry::here(&peers::THREADS, threads),
        Entry::here(&peers::PARKING_LOT, parking_lot),
        Entry::foreign(&peers::GO),
    ]],
};

/// Counts up under std's mutex, or one with the same names, and checks the count.
macro_rules! count_up {
    ($mutex:ty, $n:ident) => {{
        let mutex = <$mutex>::new(0_u64);
        let shared = black_box(&mutex);
        (0..$n).for_each(|_| *shared.lock().expect("no fiber panics") += 1);
        assert_eq!(mutex.into_inner().expect("no fiber panics"), $n);
    }};
}

fn sinew(job: &Job) -> Readings {
    let (runtime, pace) = (runtimes::fibers(job), job.pace);
    vec![("ns", runtime.run(move || pace.ns_per_op(|n| count_up!(sinew::sync::Mutex<_>, n))))]
}

fn may(job: &Job) -> Readings {
    let pace = job.pace;
    let all = move || pace.ns_per_op(|n| count_up!(may::sync::Mutex<_>, n));
    vec![("ns", runtimes::may(job.threads).run(all))]
}

fn threads(job: &Job) -> Readings {
    vec![("ns", job.pace.ns_per_op(|n| count_up!(std::sync::Mutex<_>, n)))]
}

fn parking_lot(job: &Job) -> Readings {
    let ns = job.pace.ns_per_op(|n| {
        let mutex = parking_lot::Mutex::new(0);
        let shared = black_box(&mutex);
        (0..n).for_each(|_| *shared.lock() += 1);
        assert_eq!(mutex.into_inner(), n);
    });
    vec![("ns", ns)]
}

fn tokio(job: &Job) -> Readings {
    let runtime = runtimes::tokio(job.threads);
    let all = |n| async move {
        let mutex = tokio::sync::Mutex::new(0);
        let shared = black_box(&mutex);
        for _ in 0..n {
            *shared.lock().await += 1;
        }
        assert_eq!(mutex.into_inner(), n);
    };
    vec![("ns", job.pace.ns_per_op(|n| runtimes::in_tokio(&runtime, all(n))))]
}
