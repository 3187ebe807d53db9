//! `mpsc`: four fibers send to one by a channel with room for 1,024, 5,000,000 numbers in all
//! (100,000 in a quick run). What has arrived is added up and checked. Starting and ending the
//! fibers is part of it, and so is making the channel.
//!
//! may's channels have no bound, which is marked: its senders never wait. crossbeam has five
//! threads, however many workers others have, since a thread that waits cannot run another fiber.

use super::{Entry, Job, Metric, Readings, Workload, both, fibers, per_message, shares};
use crate::peers;
use crate::runtimes;
use may::go;
use may::sync::mpsc;
use sinew::fiber;
use sinew::sync::mpsc::sync_channel;
use std::thread;

/// The senders. Each sends as many as the others.
const SENDERS: u64 = 4;

const CAPACITY: usize = 1_024;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "mpsc",
    what: "four fibers send to one by a channel with room for 1,024, 5M in all",
    single_threaded: false,
    metrics: &[
        Metric { name: "ns", unit: "ns a message", lower_is_better: true },
        Metric { name: "cpu_ns", unit: "ns of processor time a message", lower_is_better: true },
    ],
    entries: &[
        &fibers(fibers_of),
        &[
            Entry::here(&peers::TOKIO, tokio),
            Entry::here(&peers::MAY, may).deviating(&[("capacity", "unbounded")]),
            Entry::here(&peers::CROSSBEAM, crossbeam).deviating(&[("system_threads", "5")]),
            Entry::foreign(&peers::GO),
        ],
    ],
};

/// Returns how many messages are sent in a round.
fn messages(job: &Job) -> u64 {
    if job.pace.is_quick() { 100_000 } else { 5_000_000 }
}

/// Times one message. `round` sends the given number and returns their sum.
fn rounds(job: &Job, round: impl Fn(u64) -> u64) -> Readings {
    both(per_message(job, messages(job), round))
}

fn fibers_of(job: &Job) -> Readings {
    let runtime = runtimes::fibers(job);
    let round = |messages| {
        let (sender, receiver) = sync_channel(CAPACITY);
        for share in shares(messages, SENDERS) {
            let sender = sender.clone();
            fiber::spawn(move || share.for_each(|message| sender.send(message).expect("it is open")));
        }
        drop(sender);
        receiver.iter().sum()
    };
    rounds(job, |messages| runtime.run(move || round(messages)))
}

fn tokio(job: &Job) -> Readings {
    let runtime = runtimes::tokio(job.threads);
    let round = |messages| async move {
        let (sender, mut receiver) = tokio::sync::mpsc::channel(CAPACITY);
        for share in shares(messages, SENDERS) {
            let sender = sender.clone();
            tokio::spawn(async move {
                for message in share {
                    sender.send(message).await.expect("it is open");
                }
            });
        }
        drop(sender);
        let mut sum = 0;
        while let Some(message) = receiver.recv().await {
            sum += message;
        }
        sum
    };
    rounds(job, |messages| runtimes::in_tokio(&runtime, round(messages)))
}

fn may(job: &Job) -> Readings {
    let may = runtimes::may(job.threads);
    let round = |messages| {
        let (sender, receiver) = mpsc::channel();
        for share in shares(messages, SENDERS) {
            let sender = sender.clone();
            go!(move || share.for_each(|message| sender.send(message).expect("it is open")));
        }
        drop(sender);
        receiver.iter().sum()
    };
    rounds(job, |messages| may.run(move || round(messages)))
}

fn crossbeam(job: &Job) -> Readings {
    rounds(job, |messages| {
        let (sender, receiver) = crossbeam_channel::bounded(CAPACITY);
        for share in shares(messages, SENDERS) {
            let sender = sender.clone();
            thread::spawn(move || share.for_each(|message| sender.send(message).expect("it is open")));
        }
        drop(sender);
        thread::spawn(move || receiver.iter().sum()).join().expect("it does not panic")
    })
}
