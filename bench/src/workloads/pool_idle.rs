//! `pool_idle`: what a pool does when there is nothing to do, in 3 seconds (0.3 in a quick run)
//! after 100,000 tasks. The headline is the processor time of the whole process in this time.
//! Beside it stands how often its threads went off a processor, each of which is a wake-up.

use super::idle::{self, idleness};
use super::{Entry, Job, Metric, Readings, Workload, pool_submit, pools};
use crate::countdown::Countdown;
use crate::peers;
use crate::runtimes;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "pool_idle",
    what: "3 s of idleness after 100,000 tasks",
    single_threaded: false,
    metrics: &[
        Metric { name: "cpu_ms", unit: "ms of processor time", lower_is_better: true },
        Metric { name: "wakeups", unit: "context switches", lower_is_better: true },
    ],
    entries: &[
        &pools(sinew),
        &[
            Entry::here(&peers::TOKIO, idle::tokio),
            Entry::here(&peers::RAYON, rayon),
            Entry::foreign(&peers::GO),
        ],
    ],
};

fn sinew(job: &Job) -> Readings {
    let pool = runtimes::pool(job);
    pool_submit::from_outside(&pool.handle(), Countdown::leaked());
    let readings = idleness(job);
    runtimes::end_sinew(pool);
    readings
}

fn rayon(job: &Job) -> Readings {
    let pool = runtimes::rayon(job.threads);
    pool.install(pool_submit::spawn_in_scope);
    idleness(job)
}
