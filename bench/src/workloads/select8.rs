//! `select8`: one fiber selects over eight channels with room for one each, and eight others send
//! to it, each by one of them: 1,000,000 numbers in all (100,000 in a quick run). What has arrived
//! is added up and checked. Starting and ending the fibers is part of it, and so is making the
//! channels. All peers choose at random among channels that are ready, as is the default
//! everywhere.
//!
//! The receiver counts, and holds a sender of each channel meanwhile: peers treat a closed channel
//! differently, and for some it is ready for ever. Room for one is the least that tokio has.
//! crossbeam has nine threads, however many workers others have, since a thread that waits cannot
//! run another fiber.
//!
//! may's select starts a coroutine for each arm, each time; it takes no part in this.

use super::{Entry, Job, Metric, Readings, Workload, both, fibers, per_message, shares};
use crate::pace::Cost;
use crate::peers;
use crate::runtimes;
use sinew::fiber;
use std::array;
use std::thread;

/// The number of channels, and of senders.
const CHANNELS: usize = 8;

const CAPACITY: usize = 1;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "select8",
    what: "one fiber selects over eight channels that others send to",
    single_threaded: false,
    metrics: &[
        Metric { name: "ns", unit: "ns a message", lower_is_better: true },
        Metric { name: "cpu_ns", unit: "ns of processor time a message", lower_is_better: true },
        Metric { name: "list_ns", unit: "ns a message, by a list of arms", lower_is_better: true },
        Metric {
            name: "list_cpu_ns",
            unit: "ns of processor time a message, by a list",
            lower_is_better: true,
        },
    ],
    entries: &[
        &fibers(fibers_of),
        &[
            Entry::here(&peers::TOKIO, tokio),
            Entry::here(&peers::CROSSBEAM, crossbeam).deviating(&[("system_threads", "9")]),
            Entry::foreign(&peers::GO),
        ],
    ],
};

/// Times one message. `round` sends the given number and returns their sum.
fn rounds(job: &Job, round: impl Fn(u64) -> u64) -> Cost {
    let messages = if job.pace.is_quick() { 100_000 } else { 1_000_000 };
    per_message(job, messages, round)
}

/// Returns the readings of both ways to select.
fn readings(by_macro: Cost, by_list: Cost) -> Readings {
    let mut readings = both(by_macro);
    readings.extend([("list_ns", by_list.ns), ("list_cpu_ns", by_list.cpu_ns)]);
    readings
}

/// A round with crossbeam's channels or those with the same names, and with what std's `spawn` or a
/// similar function makes. `$sum` gets the receivers and the number of messages.
macro_rules! round {
    ($bounded:path, $spawn:path, $sum:expr) => {
        move |messages| {
            let channels: [_; CHANNELS] = array::from_fn(|_| $bounded(CAPACITY));
            for (share, (sender, _)) in shares(messages, CHANNELS as u64).zip(&channels) {
                let sender = sender.clone();
                $spawn(move || share.for_each(|message| sender.send(message).expect("it is open")));
            }
            let receivers = channels.each_ref().map(|(_, receiver)| receiver);
            $sum(&receivers, messages)
        }
    };
}

/// Adds up the messages, with the `select!` of this crate.
macro_rules! by_macro {
    ($library:ident, $receivers:expr, $messages:expr) => {{
        let [a, b, c, d, e, f, g, h] = $receivers;
        let mut sum = 0;
        for _ in 0..$messages {
            let message = $library::select! {
                recv(a) -> message => message,
                recv(b) -> message => message,
                recv(c) -> message => message,
                recv(d) -> message => message,
                recv(e) -> message => message,
                recv(f) -> message => message,
                recv(g) -> message => message,
                recv(h) -> message => message,
            };
            sum += message.expect("it is open");
        }
        sum
    }};
}

/// Adds up the messages, with this `Select`.
macro_rules! by_list {
    ($select:ty, $receivers:expr, $messages:expr) => {{
        let mut select = <$select>::new();
        $receivers.iter().for_each(|receiver| {
            select.recv(receiver);
        });
        let mut sum = 0;
        for _ in 0..$messages {
            let ready = select.select();
            let receiver = $receivers[ready.index()];
            sum += ready.recv(receiver).expect("it is open");
        }
        sum
    }};
}

fn fibers_of(job: &Job) -> Readings {
    use sinew::channel::{Receiver, Select, bounded};
    type Receivers<'a> = [&'a Receiver<u64>; CHANNELS];
    let by_macro = |receivers: &Receivers<'_>, messages| by_macro!(sinew, receivers, messages);
    let by_list = |receivers: &Receivers<'_>, messages| by_list!(Select<'_>, receivers, messages);
    let by_macro = round!(bounded, fiber::spawn, by_macro);
    let by_list = round!(bounded, fiber::spawn, by_list);
    let runtime = runtimes::fibers(job);
    readings(
        rounds(job, |messages| runtime.run(move || by_macro(messages))),
        rounds(job, |messages| runtime.run(move || by_list(messages))),
    )
}

fn crossbeam(job: &Job) -> Readings {
    use crossbeam_channel::{Receiver, Select, bounded};
    type Receivers<'a> = [&'a Receiver<u64>; CHANNELS];
    let by_macro = |receivers: &Receivers<'_>, messages| by_macro!(crossbeam_channel, receivers, messages);
    let by_list = |receivers: &Receivers<'_>, messages| by_list!(Select<'_>, receivers, messages);
    readings(
        rounds(job, round!(bounded, thread::spawn, by_macro)),
        rounds(job, round!(bounded, thread::spawn, by_list)),
    )
}

fn tokio(job: &Job) -> Readings {
    let runtime = runtimes::tokio(job.threads);
    let round = |messages| async move {
        let channels: [_; CHANNELS] = array::from_fn(|_| tokio::sync::mpsc::channel(CAPACITY));
        let (senders, receivers): (Vec<_>, Vec<_>) = channels.into_iter().unzip();
        for (share, sender) in shares(messages, CHANNELS as u64).zip(senders.clone()) {
            tokio::spawn(async move {
                for message in share {
                    sender.send(message).await.expect("it is open");
                }
            });
        }
        let receivers = receivers.try_into().expect("there are eight");
        let sum = tokio_sum(receivers, messages).await;
        drop(senders);
        sum
    };
    both(rounds(job, |messages| runtimes::in_tokio(&runtime, round(messages))))
}

/// Adds up `messages` messages.
async fn tokio_sum(receivers: [tokio::sync::mpsc::Receiver<u64>; CHANNELS], messages: u64) -> u64 {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = receivers;
    let mut sum = 0;
    for _ in 0..messages {
        let message = tokio::select! {
            message = a.recv() => message,
            message = b.recv() => message,
            message = c.recv() => message,
            message = d.recv() => message,
            message = e.recv() => message,
            message = f.recv() => message,
            message = g.recv() => message,
            message = h.recv() => message,
        };
        sum += message.expect("it is open");
    }
    sum
}
