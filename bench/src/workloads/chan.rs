//! `chan`: a channel with a single user. One fiber sends 0, 1, 2, ... and receives each message
//! before it sends the next. So it never waits, and the figure is what a channel costs by itself.
//! The headline is a channel with room for 128, beside it one without a bound. A channel without
//! room takes no part: no fiber can send to itself through it.
//!
//! Ours and tokio's are used by a fiber or a task, the others by a thread.

use super::{Entry, Job, Metric, Readings, Workload, check_sum};
use crate::peers;
use crate::runtimes;
use std::hint::black_box;

const CAPACITY: usize = 128;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "chan",
    what: "send + receive by a channel with a single user",
    single_threaded: true,
    metrics: &[
        Metric { name: "ns", unit: "ns a message, room for 128", lower_is_better: true },
        Metric { name: "unbounded_ns", unit: "ns a message, no bound", lower_is_better: true },
    ],
    entries: &[&[
        Entry::here(&peers::SINEW, sinew),
        Entry::here(&peers::TOKIO, tokio),
        Entry::here(&peers::THREADS, threads),
        Entry::here(&peers::CROSSBEAM, crossbeam),
        Entry::foreign(&peers::GO),
    ]],
};

/// Times one message through a channel of std's, or one with the same names.
macro_rules! ns_by {
    ($pace:expr, $channel:expr) => {
        $pace.ns_per_op(|n| {
            let channel = $channel;
            let (sender, receiver) = black_box(&channel);
            let mut sum = 0;
            for message in 0..n {
                sender.send(message).expect("it is open");
                sum += receiver.recv().expect("it is open");
            }
            check_sum(sum, 0, n);
        })
    };
}

fn sinew(job: &Job) -> Readings {
    use sinew::channel::{bounded, unbounded};
    let pace = job.pace;
    let all = move || (ns_by!(pace, bounded(CAPACITY)), ns_by!(pace, unbounded()));
    let (ns, unbounded_ns) = runtimes::fibers(job).run(all);
    vec![("ns", ns), ("unbounded_ns", unbounded_ns)]
}

fn crossbeam(job: &Job) -> Readings {
    use crossbeam_channel::{bounded, unbounded};
    vec![("ns", ns_by!(job.pace, bounded(CAPACITY))), ("unbounded_ns", ns_by!(job.pace, unbounded()))]
}

fn threads(job: &Job) -> Readings {
    use std::sync::mpsc::{channel, sync_channel};
    vec![("ns", ns_by!(job.pace, sync_channel(CAPACITY))), ("unbounded_ns", ns_by!(job.pace, channel()))]
}

fn tokio(job: &Job) -> Readings {
    let runtime = runtimes::tokio(job.threads);
    let with_bound = |n| async move {
        let mut channel = tokio::sync::mpsc::channel(CAPACITY);
        let (sender, receiver) = black_box(&mut channel);
        let mut sum = 0;
        for message in 0..n {
            sender.send(message).await.expect("it is open");
            sum += receiver.recv().await.expect("it is open");
        }
        check_sum(sum, 0, n);
    };
    let without = |n| async move {
        let mut channel = tokio::sync::mpsc::unbounded_channel();
        let (sender, receiver) = black_box(&mut channel);
        let mut sum = 0;
        for message in 0..n {
            sender.send(message).expect("it is open");
            sum += receiver.recv().await.expect("it is open");
        }
        check_sum(sum, 0, n);
    };
    vec![
        ("ns", job.pace.ns_per_op(|n| runtimes::in_tokio(&runtime, with_bound(n)))),
        ("unbounded_ns", job.pace.ns_per_op(|n| runtimes::in_tokio(&runtime, without(n)))),
    ]
}
