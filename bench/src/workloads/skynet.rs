//! `skynet`: the tree of `skynet_join`, a million leaves (ten thousand in a quick run), with
//! channels: each fiber spawns ten with a channel for their sums, receives ten sums, and sends the
//! total to its own parent. No fiber is joined. The headline has channels without room, the form
//! that this comparison has had in Go from the beginning. Beside it stand channels with room for
//! all ten, where no child waits for its parent. For ours, also how many stacks that took.
//!
//! Tokio has no channel without room. It uses one with room for one instead, which is marked. As in
//! `skynet_join`, `may` and `boost` take no part, since a whole level exists at once.

use super::skynet_join::{CHILDREN, Node, cost_of_tree, most_stacks};
use super::{Entry, Job, Metric, Readings, Workload, fibers};
use crate::pace::Cost;
use crate::peers;
use crate::runtimes;
use sinew::channel::{Sender, bounded};
use sinew::fiber;
use tokio::sync::mpsc;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "skynet",
    what: "a tree of fibers that receive from their ten children, 1,000,000 leaves",
    single_threaded: false,
    metrics: &[
        Metric { name: "ms", unit: "ms a tree", lower_is_better: true },
        Metric { name: "cpu_ms", unit: "ms of processor time a tree", lower_is_better: true },
        Metric { name: "buffered_ms", unit: "ms a tree, room for all children", lower_is_better: true },
        Metric { name: "buffered_cpu_ms", unit: "ms of processor time, room for all", lower_is_better: true },
        Metric { name: "stacks", unit: "stacks in use at most", lower_is_better: true },
        Metric {
            name: "buffered_stacks",
            unit: "stacks in use at most, room for all",
            lower_is_better: true,
        },
    ],
    entries: &[
        &fibers(fibers_of),
        &[
            Entry::here(&peers::TOKIO, tokio).deviating(&[("unbuffered", "room for one")]),
            Entry::foreign(&peers::GO),
        ],
    ],
};

/// Room for the sums of all children.
const ALL: usize = CHILDREN as usize;

/// Returns the readings of a tree with channels without room, and with channels that have room for
/// all.
fn readings(unbuffered: Cost, buffered: Cost) -> Readings {
    vec![
        ("ms", unbuffered.ns / 1e6),
        ("cpu_ms", unbuffered.cpu_ns / 1e6),
        ("buffered_ms", buffered.ns / 1e6),
        ("buffered_cpu_ms", buffered.cpu_ns / 1e6),
    ]
}

fn fibers_of(job: &Job) -> Readings {
    fn send_sum(node: Node, parent: &Sender<u64>, room: usize) {
        let mut sum = node.first;
        if !node.is_leaf() {
            let (sender, receiver) = bounded(room);
            for number in 0..CHILDREN as usize {
                let sender = sender.clone();
                fiber::spawn(move || send_sum(node.child(number), &sender, room));
            }
            sum = (0..CHILDREN).map(|_| receiver.recv().expect("it is open")).sum();
        }
        parent.send(sum).expect("it is open");
    }
    let tree = |root, room| {
        let (sender, receiver) = bounded(room);
        fiber::spawn(move || send_sum(root, &sender, room));
        receiver.recv().expect("it is open")
    };
    // Each in a runtime of its own, which counts its own stacks.
    let cost_and_stacks = |room| {
        let runtime = runtimes::fibers(job);
        let cost = cost_of_tree(job, |root| runtime.run(move || tree(root, room)));
        (cost, most_stacks(&runtime) as f64)
    };
    let ((unbuffered, stacks), (buffered, buffered_stacks)) = (cost_and_stacks(0), cost_and_stacks(ALL));
    let mut readings = readings(unbuffered, buffered);
    readings.extend([("stacks", stacks), ("buffered_stacks", buffered_stacks)]);
    readings
}

fn tokio(job: &Job) -> Readings {
    #[expect(clippy::manual_async_fn, reason = "a future that spawns itself must be declared `Send`")]
    fn send_sum(node: Node, parent: mpsc::Sender<u64>, room: usize) -> impl Future<Output = ()> + Send {
        async move {
            let mut sum = node.first;
            if !node.is_leaf() {
                let (sender, mut receiver) = mpsc::channel(room);
                for number in 0..CHILDREN as usize {
                    tokio::spawn(send_sum(node.child(number), sender.clone(), room));
                }
                sum = 0;
                for _ in 0..CHILDREN {
                    sum += receiver.recv().await.expect("it is open");
                }
            }
            parent.send(sum).await.expect("it is open");
        }
    }
    let runtime = runtimes::tokio(job.threads);
    let tree = |root, room| async move {
        let (sender, mut receiver) = mpsc::channel(room);
        tokio::spawn(send_sum(root, sender, room));
        receiver.recv().await.expect("it is open")
    };
    let cost = |room| cost_of_tree(job, |root| runtimes::in_tokio(&runtime, tree(root, room)));
    readings(cost(1), cost(ALL))
}
