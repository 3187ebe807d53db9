//! `pingpong`: two fibers and two channels with room for one each. One fiber sends 0, 1, 2, ... and
//! receives each back before it sends the next; what comes back is added up and checked. The figure
//! is a round trip.
//!
//! The runtime chooses where the other fiber runs. A fiber of ours that does not move may begin on
//! either worker, and stays there. So with more than one worker, both cases are measured beside it:
//! both fibers on one worker, and each on its own.
//!
//! may's channels have no bound, which is marked. Here it makes no difference, except for the cost
//! of the bound itself.

use super::{Entry, Job, Metric, Readings, Workload, both, check_sum, fibers};
use crate::pace::Cost;
use crate::peers;
use crate::runtimes;
use may::go;
use may::sync::mpsc;
use sinew::fiber;
use sinew::sync::mpsc::sync_channel;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "pingpong",
    what: "two fibers send back and forth by two channels with room for one",
    single_threaded: false,
    metrics: &[
        Metric { name: "ns", unit: "ns a round trip", lower_is_better: true },
        Metric { name: "cpu_ns", unit: "ns of processor time a round trip", lower_is_better: true },
        Metric { name: "together_ns", unit: "ns a round trip, on one worker", lower_is_better: true },
        Metric {
            name: "together_cpu_ns",
            unit: "ns of processor time, on one worker",
            lower_is_better: true,
        },
        Metric { name: "apart_ns", unit: "ns a round trip, on two workers", lower_is_better: true },
        Metric { name: "apart_cpu_ns", unit: "ns of processor time, on two workers", lower_is_better: true },
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
    let cost = |start: fn(Body)| cost_of(job, |n| runtime.run(move || to_and_fro(n, start)));
    let mut readings = both(cost(anywhere));
    if job.threads > 1 && !job.flavour.migrates {
        let (together, apart) = (cost(together), cost(apart));
        readings.extend([("together_ns", together.ns), ("together_cpu_ns", together.cpu_ns)]);
        readings.extend([("apart_ns", apart.ns), ("apart_cpu_ns", apart.cpu_ns)]);
    }
    readings
}

/// What a fiber does.
type Body = Box<dyn FnOnce() + Send>;

/// Makes `n` round trips with another fiber, which `start` starts. Returns the sum of what came
/// back.
fn to_and_fro(n: u64, start: fn(Body)) -> u64 {
    let (there, received_there) = sync_channel(1);
    let (back, received_back) = sync_channel(1);
    start(Box::new(move || received_there.iter().for_each(|value| back.send(value).expect("it is open"))));
    let mut sum = 0;
    for i in 0..n {
        there.send(i).expect("it is open");
        sum += received_back.recv().expect("it is open");
    }
    drop(there);
    received_back.recv().expect_err("the other one has ended");
    sum
}

/// Starts a fiber where the runtime puts it.
fn anywhere(body: Body) {
    fiber::spawn(body);
}

/// Starts a fiber on the worker of the calling one.
fn together(body: Body) {
    fiber::spawn_local(body);
}

/// Starts a fiber on another worker: the worker of the calling fiber is not free before the new one
/// has begun.
fn apart(body: Body) {
    let begun = Arc::new(AtomicBool::new(false));
    let begins = begun.clone();
    fiber::spawn(move || {
        begins.store(true, Ordering::Relaxed);
        body();
    });
    while !begun.load(Ordering::Relaxed) {
        thread::yield_now();
    }
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
    both(cost_of(job, |n| may.run(move || all(n))))
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
    both(cost_of(job, |n| runtimes::in_tokio(&runtime, all(n))))
}

/// Times one round trip. `all` makes the given number and returns the sum of what came back.
fn cost_of(job: &Job, all: impl Fn(u64) -> u64) -> Cost {
    job.pace.cost_per_op(|n| check_sum(all(n), 0, n))
}

#[cfg(test)]
mod tests {
    use super::{Body, apart, together};
    use sinew::sync::mpsc::sync_channel;
    use std::thread;

    /// Returns whether a fiber and the one that it starts have the same worker.
    fn is_here(start: fn(Body)) -> bool {
        let (sender, receiver) = sync_channel(1);
        start(Box::new(move || sender.send(thread::current().id()).expect("it is open")));
        receiver.recv().expect("it was sent") == thread::current().id()
    }

    #[test]
    fn fibers_are_where_they_should_be() {
        let runtime = sinew::Runtime::builder().workers(2).start().expect("a runtime");
        for _ in 0..100 {
            assert_eq!(runtime.run(|| (is_here(together), is_here(apart))), (true, false));
        }
    }
}
