//! `mutex`, `mutex_yield`: 1,000 fibers lock the same mutex 1,000 times each (100 in a quick run),
//! count up the number in it, and unlock it. In `mutex_yield` they yield before they unlock it, so
//! that all others find it locked. Starting and ending the fibers is part of it: one in 1,000. The
//! processor time shows whether fibers that wait for a lock keep a processor busy.

use super::{Entry, Job, Metric, Readings, Workload, both, fibers};
use crate::crowd;
use crate::peers;
use crate::runtimes;
use may::coroutine;
use sinew::fiber;
use std::future::{self, Future};
use std::sync::Arc;
use tokio::task;

const FIBERS: usize = 1_000;

const METRICS: &[Metric] = &[
    Metric { name: "ns", unit: "ns a lock", lower_is_better: true },
    Metric { name: "cpu_ns", unit: "ns of processor time a lock", lower_is_better: true },
];

/// The table of `mutex`, where nothing else happens under the lock.
pub(super) static PLAIN: Workload = Workload {
    name: "mutex",
    what: "1,000 fibers × 1,000 times lock, count up, unlock",
    single_threaded: false,
    metrics: METRICS,
    entries: &[
        &fibers(|job| fibers_of(job, || ())),
        &[
            Entry::here(&peers::TOKIO, |job| tokio(job, || future::ready(()))),
            Entry::here(&peers::MAY, |job| may(job, || ())),
            Entry::foreign(&peers::GO),
        ],
    ],
};

/// The table of `mutex_yield`, where fibers yield under the lock.
pub(super) static YIELDING: Workload = Workload {
    name: "mutex_yield",
    what: "1,000 fibers × 1,000 times lock, count up, yield, unlock",
    single_threaded: false,
    metrics: METRICS,
    entries: &[
        &fibers(|job| fibers_of(job, fiber::yield_now)),
        &[
            Entry::here(&peers::TOKIO, |job| tokio(job, task::yield_now)),
            Entry::here(&peers::MAY, |job| may(job, coroutine::yield_now)),
            Entry::foreign(&peers::GO),
        ],
    ],
};

/// Returns how often each fiber locks it in a round.
fn locks(job: &Job) -> usize {
    if job.pace.is_quick() { 100 } else { 1_000 }
}

/// Times one lock. `round` does a whole round and returns the count.
fn rounds(job: &Job, round: impl Fn() -> usize) -> Readings {
    let all = FIBERS * locks(job);
    let checked = |_| assert_eq!(round(), all, "the count is wrong");
    both(job.pace.cost_per_op(|rounds| (0..rounds).for_each(checked)).divided_by(all))
}

fn fibers_of(job: &Job, inside: impl Fn() + Copy + Send + 'static) -> Readings {
    let (runtime, locks) = (&runtimes::fibers(job), locks(job));
    let round = move || {
        let count = Arc::new(sinew::sync::Mutex::new(0));
        let shared = count.clone();
        crowd::fibers(FIBERS, move |_| {
            for _ in 0..locks {
                let mut count = shared.lock().expect("no fiber panics");
                *count += 1;
                inside();
            }
        });
        *count.lock().expect("no fiber panics")
    };
    rounds(job, || runtime.run(round))
}

fn may(job: &Job, inside: impl Fn() + Copy + Send + 'static) -> Readings {
    let (may, locks) = (runtimes::may(job.threads), locks(job));
    let round = move || {
        let count = Arc::new(may::sync::Mutex::new(0));
        let shared = count.clone();
        crowd::coroutines(FIBERS, move |_| {
            for _ in 0..locks {
                let mut count = shared.lock().expect("no fiber panics");
                *count += 1;
                inside();
            }
        });
        *count.lock().expect("no fiber panics")
    };
    rounds(job, || may.run(round))
}

fn tokio<F: Future + Send>(job: &Job, inside: impl Fn() -> F + Copy + Send + Sync + 'static) -> Readings {
    let (runtime, locks) = (runtimes::tokio(job.threads), locks(job));
    let round = move || async move {
        let count = Arc::new(tokio::sync::Mutex::new(0));
        let one = |_| {
            let shared = count.clone();
            async move {
                for _ in 0..locks {
                    let mut count = shared.lock().await;
                    *count += 1;
                    inside().await;
                }
            }
        };
        crowd::tasks(FIBERS, one).await;
        *count.lock().await
    };
    rounds(job, || runtimes::in_tokio(&runtime, round()))
}
