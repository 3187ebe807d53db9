//! `mpmc`: four fibers send to four by one channel with room for 128, 5,000,000 numbers in all
//! (100,000 in a quick run). What has arrived at any of them is added up and checked. Starting and
//! ending the fibers is part of it, and so is making the channel.
//!
//! Tokio has no such channel. may's channels have no bound, which is marked: its senders never
//! wait. crossbeam has eight threads, however many workers others have, since a thread that waits
//! cannot run another fiber.

use super::{Entry, Job, Metric, Readings, Workload, both, fibers, per_message, shares};
use crate::peers;
use crate::runtimes;
use may::go;
use sinew::{channel, fiber};
use std::ops::Range;
use std::thread;

/// The senders. Each sends as many as the others.
const SENDERS: u64 = 4;

/// The receivers. Each receives what it gets.
const RECEIVERS: u64 = 4;

const CAPACITY: usize = 128;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "mpmc",
    what: "four fibers send to four by a channel with room for 128, 5M in all",
    single_threaded: false,
    metrics: &[
        Metric { name: "ns", unit: "ns a message", lower_is_better: true },
        Metric { name: "cpu_ns", unit: "ns of processor time a message", lower_is_better: true },
    ],
    entries: &[
        &fibers(fibers_of),
        &[
            Entry::here(&peers::MAY, may).deviating(&[("capacity", "unbounded")]),
            Entry::here(&peers::CROSSBEAM, crossbeam).deviating(&[("system_threads", "8")]),
            Entry::foreign(&peers::GO),
        ],
    ],
};

/// Times one message. `round` sends the given number and returns their sum.
fn rounds(job: &Job, round: impl Fn(u64) -> u64) -> Readings {
    let messages = if job.pace.is_quick() { 100_000 } else { 5_000_000 };
    both(per_message(job, messages, round))
}

/// A round with crossbeam's channel or one with the same names, and with what std's `spawn` or a
/// similar function makes.
macro_rules! round {
    ($bounded:path, $spawn:path) => {
        |messages| {
            let (sender, receiver) = $bounded(CAPACITY);
            for share in shares(messages, SENDERS) {
                let sender = sender.clone();
                $spawn(move || share.for_each(|message| sender.send(message).expect("it is open")));
            }
            drop(sender);
            let start = |_| {
                let receiver = receiver.clone();
                $spawn(move || receiver.iter().sum::<u64>())
            };
            let receivers: Vec<_> = (0..RECEIVERS).map(start).collect();
            receivers.into_iter().map(|receiver| receiver.join().expect("it does not panic")).sum()
        }
    };
}

fn fibers_of(job: &Job) -> Readings {
    let runtime = runtimes::fibers(job);
    let round = round!(channel::bounded, fiber::spawn);
    rounds(job, |messages| runtime.run(move || round(messages)))
}

fn crossbeam(job: &Job) -> Readings {
    rounds(job, round!(crossbeam_channel::bounded, thread::spawn))
}

/// Receivers learn that the last message has come from one more message for each: with several
/// receivers, may does not reliably wake all when the channel is closed.
fn may(job: &Job) -> Readings {
    const OVER: u64 = u64::MAX;
    let round = |messages| {
        let (sender, receiver) = may::sync::mpmc::channel();
        let send = |share: Range<u64>| {
            let sender = sender.clone();
            go!(move || share.for_each(|message| sender.send(message).expect("it is open")))
        };
        let senders: Vec<_> = shares(messages, SENDERS).map(send).collect();
        let receive = |_| {
            let receiver = receiver.clone();
            go!(move || receiver.iter().take_while(|&message| message != OVER).sum::<u64>())
        };
        let receivers: Vec<_> = (0..RECEIVERS).map(receive).collect();
        senders.into_iter().for_each(|sender| sender.join().expect("it does not panic"));
        (0..RECEIVERS).for_each(|_| sender.send(OVER).expect("it is open"));
        receivers.into_iter().map(|receiver| receiver.join().expect("it does not panic")).sum()
    };
    let may = runtimes::may(job.threads);
    rounds(job, |messages| may.run(move || round(messages)))
}
