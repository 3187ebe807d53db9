//! `pingpong`: two fibers and two channels with room for one each. One sends 0, 1, 2, ... and receives each back before it sends the next;
//! what comes back is added up and checked. The figure is a round trip.
//!
//! Channels of may's have no bound, which is marked; it makes no difference here but for what a channel does to have one.

use super::{Entry, Job, Metric, Readings, Workload, both, check_sum, fibers};
use crate::peers;
use crate::runtimes;
use may::go;
use may::sync::mpsc;
use sinew::fiber;
use sinew::sync::mpsc::sync_channel;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "pingpong",
    what: "two fibers send to and fro by two channels with room for one",
    single_threaded: false,
    metrics: &[
        Metric { name: "ns", unit: "ns a round trip", lower_is_better: true },
        Metric { name: "cpu_ns", unit: "ns of processor time a round trip", lower_is_better: true },
    ],
    entries: &[
        &fibers(fibers_of),
        &[
            Entry::here(&peers::TOKIO, tokio),
            Entry::here(&peers::MAY, may).deviating(&[("capacity", "unbounded")]),
            Entry::foreign(&peers::GO),
        ],
    ],
};

fn fibers_of(job: &Job) -> Readings {
    let runtime = runtimes::fibers(job);
    let all = |n| {
        let (there, received_there) = sync_channel(1);
        let (back, received_back) = sync_channel(1);
        let other = fiber::spawn(move || {
            received_there.iter().for_each(|value| back.send(value).expect("it is open"));
        });
        let mut sum = 0;
        for i in 0..n {
            there.send(i).expect("it is open");
            sum += received_back.recv().expect("it is open");
        }
        drop(there);
        other.join().expect("it does not panic");
        sum
    };
    cost_of(job, |n| runtime.run(move || all(n)))
}

fn may(job: &Job) -> Readings {
    let may = runtimes::may(job.threads);
    let all = |n| {
        let (there, received_there) = mpsc::channel();
        let (back, received_back) = mpsc::channel();
        let other =
            go!(move || received_there.iter().for_each(|value| back.send(value).expect("it is open")));
        let mut sum = 0;
        for i in 0..n {
            there.send(i).expect("it is open");
            sum += received_back.recv().expect("it is open");
        }
        drop(there);
        other.join().expect("it does not panic");
        sum
    };
    cost_of(job, |n| may.run(move || all(n)))
}

fn tokio(job: &Job) -> Readings {
    let runtime = runtimes::tokio(job.threads);
    let all = |n| async move {
        let (there, mut received_there) = tokio::sync::mpsc::channel(1);
        let (back, mut received_back) = tokio::sync::mpsc::channel(1);
        let other = tokio::spawn(async move {
            while let Some(value) = received_there.recv().await {
                back.send(value).await.expect("it is open");
            }
        });
        let mut sum = 0;
        for i in 0..n {
            there.send(i).await.expect("it is open");
            sum += received_back.recv().await.expect("it is open");
        }
        drop(there);
        other.await.expect("it does not panic");
        sum
    };
    cost_of(job, |n| runtimes::in_tokio(&runtime, all(n)))
}

/// Times one round trip, where `all` makes so many and returns the sum of what came back.
fn cost_of(job: &Job, all: impl Fn(u64) -> u64) -> Readings {
    both(job.pace.cost_per_op(|n| check_sum(all(n), 0, n)))
}
