//! `timer_cancel`: a timer that would call back in an hour is set and cancelled, as nearly every
//! time-out in a service is. Beside the time stands how much the process has grown meanwhile:
//! cancelled timers should not stay. For ours also the same with one timer that is armed again and
//! again. `timer-thread` is a thread with a sorted map.

use super::{Entry, Job, Metric, Readings, Workload, fibers};
use crate::pace::Pace;
use crate::peers;
use crate::runtimes;
use crate::timer_thread::TimerThread;
use crate::usage::memory;
use sinew::time::{self, Schedule, Timer};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "timer_cancel",
    what: "a timer is set and cancelled",
    single_threaded: false,
    metrics: &[
        Metric { name: "ns", unit: "ns to set and cancel", lower_is_better: true },
        Metric { name: "rearm_ns", unit: "ns to arm the same one again and cancel", lower_is_better: true },
        Metric { name: "grown_kib", unit: "KiB that the process has grown by", lower_is_better: true },
    ],
    entries: &[
        &fibers(fibers_of),
        &[
            Entry::here(&peers::TIMER_THREAD, timer_thread),
            Entry::here(&peers::TOKIO, tokio),
            Entry::foreign(&peers::GO),
        ],
    ],
};

const HOUR: Duration = Duration::from_secs(3_600);

fn fibers_of(job: &Job) -> Readings {
    let (runtime, pace) = (runtimes::fibers(job), job.pace);
    runtime.run(move || {
        let mut readings = growing(pace, || assert!(time::after(HOUR, || ()).cancel()));
        let timer = Timer::new(|| ());
        let rearm = pace.ns_per_op(|n| {
            for _ in 0..n {
                timer.arm(Schedule::after(HOUR));
                assert!(timer.cancel());
            }
        });
        readings.push(("rearm_ns", rearm));
        readings
    })
}

fn timer_thread(job: &Job) -> Readings {
    let (runtime, pace, timers) = (runtimes::fibers(job), job.pace, TimerThread::start());
    runtime.run(move || growing(pace, || assert!(timers.cancel(timers.set(Instant::now() + HOUR, None)))))
}

fn tokio(job: &Job) -> Readings {
    let (runtime, pace) = (runtimes::tokio(job.threads), job.pace);
    let once = || {
        // It is set when it is first polled, and cancelled when it is dropped.
        let polled = pin!(tokio::time::sleep(HOUR)).poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(polled, Poll::Pending);
    };
    runtimes::in_tokio(&runtime, async move { growing(pace, once) })
}

/// Returns the time of one, and how much the process has grown by all.
fn growing(pace: Pace, mut once: impl FnMut()) -> Readings {
    once();
    let before = memory();
    let ns = pace.ns_per_op(|n| (0..n).for_each(|_| once()));
    vec![("ns", ns), ("grown_kib", (memory() - before).max(0.0) / 1024.0)]
}
