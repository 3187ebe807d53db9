//! `pool_submit`: a task of the pool submits 100,000 empty tasks one by one. The time is from
//! before the first submission until the last has run. The tasks count themselves down; peers have
//! their own ways to wait (handles, a scope, a wait group). Beside the headline stand its processor
//! time, the same in one batch, and the same by a thread outside.
//!
//! The last task of a round begins the next one, so that no thread is woken between rounds.

use super::{Entry, Job, Metric, Readings, Workload, both, pools};
use crate::countdown::Countdown;
use crate::pace::Cost;
use crate::peers;
use crate::runtimes;
use sinew_sched::{Context, Handle, Placement, TaskRef};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// Tasks of a round.
pub(super) const TASKS: usize = 100_000;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "pool_submit",
    what: "100,000 empty tasks submitted by a task and run",
    single_threaded: false,
    metrics: &[
        Metric { name: "ns", unit: "ns a task", lower_is_better: true },
        Metric { name: "cpu_ns", unit: "ns of processor time a task", lower_is_better: true },
        Metric { name: "batch_ns", unit: "ns a task, in one batch", lower_is_better: true },
        Metric { name: "outside_ns", unit: "ns a task, by a thread outside", lower_is_better: true },
    ],
    entries: &[
        &pools(sinew),
        &[Entry::here(&peers::TOKIO, tokio), Entry::here(&peers::RAYON, rayon), Entry::foreign(&peers::GO)],
    ],
};

fn sinew(job: &Job) -> Readings {
    let pool = runtimes::pool(job);
    let (one_by_one, batch) =
        (Rounds::leaked(pool.handle(), one_by_one), Rounds::leaked(pool.handle(), in_one_batch));
    let cost = job.pace.cost_per_op(|rounds| one_by_one.run(rounds)).divided_by(TASKS);
    let batch_ns = job.pace.ns_per_op(|rounds| batch.run(rounds)) / TASKS as f64;
    let (handle, countdown) = (pool.handle(), Countdown::leaked());
    let outside = job.pace.ns_per_op(|rounds| (0..rounds).for_each(|_| from_outside(&handle, countdown)));
    runtimes::end_sinew(pool);
    let outside_ns = outside / TASKS as f64;
    vec![("ns", cost.ns), ("cpu_ns", cost.cpu_ns), ("batch_ns", batch_ns), ("outside_ns", outside_ns)]
}

/// A round by the calling thread, which is not a worker of the pool.
pub(super) fn from_outside(handle: &Handle, countdown: &'static Countdown) {
    countdown.set(TASKS);
    for _ in 0..TASKS {
        let task = TaskRef::new(|_| countdown.arrive());
        handle.submit(task, Placement::Anyone).expect("the pool is open");
    }
    countdown.wait();
}

/// Rounds that tasks of the pool begin.
struct Rounds {
    /// Tasks of this round that have not run.
    tasks: AtomicUsize,
    /// Rounds that have not ended.
    rounds: AtomicU64,
    begin: fn(&'static Self, &Context<'_>),
    handle: Handle,
    over: &'static Countdown,
}

impl Rounds {
    /// Makes the rounds. They are never freed, so tasks share them without counting references.
    fn leaked(handle: Handle, begin: fn(&'static Self, &Context<'_>)) -> &'static Self {
        let (tasks, rounds) = (AtomicUsize::new(0), AtomicU64::new(0));
        Box::leak(Box::new(Self { tasks, rounds, begin, handle, over: Countdown::leaked() }))
    }

    fn run(&'static self, rounds: u64) {
        self.rounds.store(rounds, Ordering::Relaxed);
        self.over.set(1);
        let first = TaskRef::new(|context| self.begin(context));
        self.handle.submit(first, Placement::Anyone).expect("the pool is open");
        self.over.wait();
    }

    fn begin(&'static self, context: &Context<'_>) {
        // Relaxed: submitting a task orders it.
        self.tasks.store(TASKS, Ordering::Relaxed);
        (self.begin)(self, context);
    }

    fn task(&'static self) -> TaskRef {
        TaskRef::new(|context| {
            if self.tasks.fetch_sub(1, Ordering::AcqRel) == 1 {
                self.end(context);
            }
        })
    }

    #[cold]
    fn end(&'static self, context: &Context<'_>) {
        if self.rounds.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.over.arrive();
        } else {
            self.begin(context);
        }
    }
}

fn one_by_one(rounds: &'static Rounds, context: &Context<'_>) {
    (0..TASKS).for_each(|_| context.submit(rounds.task()));
}

fn in_one_batch(rounds: &'static Rounds, _: &Context<'_>) {
    let tasks = (0..TASKS).map(|_| rounds.task());
    rounds.handle.submit_batch(tasks, Placement::Anyone).expect("the pool is open");
}

fn tokio(job: &Job) -> Readings {
    let runtime = runtimes::tokio(job.threads);
    let Cost { ns, cpu_ns } = spawn_by_a_task(job, &runtime);
    let outside = job.pace.ns_per_op(|rounds| (0..rounds).for_each(|_| spawn_from_outside(&runtime)));
    vec![("ns", ns), ("cpu_ns", cpu_ns), ("outside_ns", outside / TASKS as f64)]
}

/// Rounds of tokio by one of its tasks. Returns the cost of one spawned task.
pub(super) fn spawn_by_a_task(job: &Job, runtime: &Runtime) -> Cost {
    let rounds = |rounds| async move {
        for _ in 0..rounds {
            join((0..TASKS).map(|_| tokio::spawn(async {})).collect()).await;
        }
    };
    job.pace.cost_per_op(|n| runtimes::in_tokio(runtime, rounds(n))).divided_by(TASKS)
}

/// A round of tokio by the calling thread, which is not one of the runtime's.
pub(super) fn spawn_from_outside(runtime: &Runtime) {
    runtime.block_on(join((0..TASKS).map(|_| runtime.spawn(async {})).collect()));
}

async fn join(tasks: Vec<JoinHandle<()>>) {
    for task in tasks {
        task.await.expect("it does not panic");
    }
}

/// Rayon's part, which is also that of `spawn_batch_100k`.
pub(super) fn rayon(job: &Job) -> Readings {
    let pool = runtimes::rayon(job.threads);
    let cost = job.pace.cost_per_op(|rounds| pool.install(|| (0..rounds).for_each(|_| spawn_in_scope())));
    both(cost.divided_by(TASKS))
}

/// A round of rayon, in the pool of the calling thread.
pub(super) fn spawn_in_scope() {
    rayon::scope(|scope| (0..TASKS).for_each(|_| scope.spawn(|_| ())));
}
