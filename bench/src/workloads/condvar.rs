//! `condvar`: two fibers on one worker pass a flag back and forth under one mutex and one condition
//! variable. The fiber with the flag gives it to the other one, notifies it, and waits until the
//! flag comes back. The figure is a round trip: both have waited once.
//!
//! Tokio has no condition variable: each of its tasks has a `Notify`, and std's mutex is around the
//! flag, as tokio's documentation advises for a mutex that is not held across a wait. `pingpong` is
//! what its users would write. The peer `threads` has two threads, since a thread that waits cannot
//! run another fiber.

use super::{Entry, Job, Metric, Readings, Workload, both, fibers};
use crate::crowd;
use crate::peers;
use crate::runtimes;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "condvar",
    what: "two fibers pass a flag back and forth under a condition variable",
    single_threaded: true,
    metrics: &[
        Metric { name: "ns", unit: "ns a round trip", lower_is_better: true },
        Metric { name: "cpu_ns", unit: "ns of processor time a round trip", lower_is_better: true },
    ],
    entries: &[
        &fibers(fibers_of),
        &[
            Entry::here(&peers::TOKIO, tokio).deviating(&[("condvar", "a Notify for each")]),
            Entry::here(&peers::MAY, may),
            Entry::here(&peers::THREADS, threads).deviating(&[("system_threads", "2")]),
            Entry::foreign(&peers::GO),
        ],
    ],
};

/// What one of the two does, by its number, with std's types or those with the same names: it has
/// the flag a given number of times.
macro_rules! pass {
    ($sync:ident) => {{
        let shared = Arc::new(($sync::sync::Mutex::new(0), $sync::sync::Condvar::new()));
        move |me: usize, times: u64| {
            let (flag, condvar) = &*shared;
            let mut flag = flag.lock().expect("no fiber panics");
            for _ in 0..times {
                while *flag != me {
                    flag = condvar.wait(flag).expect("no fiber panics");
                }
                *flag = 1 - me;
                condvar.notify_one();
            }
        }
    }};
}

fn fibers_of(job: &Job) -> Readings {
    let (runtime, pass) = (runtimes::fibers(job), pass!(sinew));
    let all = |n| {
        let pass = pass.clone();
        runtime.run(move || crowd::fibers(2, move |me| pass(me, n)));
    };
    both(job.pace.cost_per_op(all))
}

fn may(job: &Job) -> Readings {
    let (may, pass) = (runtimes::may(job.threads), pass!(may));
    let all = |n| {
        let pass = pass.clone();
        may.run(move || crowd::coroutines(2, move |me| pass(me, n)));
    };
    both(job.pace.cost_per_op(all))
}

fn threads(job: &Job) -> Readings {
    let pass = pass!(std);
    both(job.pace.cost_per_op(|n| crowd::threads(2, |me| pass(me, n))))
}

fn tokio(job: &Job) -> Readings {
    let runtime = runtimes::tokio(job.threads);
    let all = |n| async move {
        let shared = Arc::new((Mutex::new(0), [Notify::new(), Notify::new()]));
        crowd::tasks(2, |me| pass_by_notices(shared.clone(), me, n)).await;
    };
    both(job.pace.cost_per_op(|n| runtimes::in_tokio(&runtime, all(n))))
}

/// Each task waits for a notice of its own. A shared notice could be taken by the task that has
/// just given it.
async fn pass_by_notices(shared: Arc<(Mutex<usize>, [Notify; 2])>, me: usize, times: u64) {
    let (flag, notices) = &*shared;
    for _ in 0..times {
        while !gives(flag, me) {
            notices[me].notified().await;
        }
        notices[1 - me].notify_one();
    }
}

/// Gives the flag to the other one. Returns false if the flag was not here.
fn gives(flag: &Mutex<usize>, me: usize) -> bool {
    let mut flag = flag.lock().expect("no fiber panics");
    let had = *flag == me;
    if had {
        *flag = 1 - me;
    }
    had
}
