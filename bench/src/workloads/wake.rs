//! `wake`: a thread that is none of the pool's submits a task when all workers have been asleep for a while. The figure is
//! the time from before the submission until the task runs; the thread itself sleeps meanwhile, as most that ask do.
//!
//! For ours, also what it takes while a worker is searching, which is to take no system call: the thread asks again as
//! soon as the former task has run, and the wakes of those 1,000 times are counted.

use super::{Entry, Job, Metric, Readings, Workload};
use crate::pace::Pace;
use crate::peers;
use crate::runtimes;
use sinew_sched::{Handle, Placement, TaskRef, WorkerState};
use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How long the pool is left alone before it is woken: much longer than anybody searches, and than a tick of any driver.
const PAUSE: Duration = Duration::from_millis(3);

/// How many submissions to a searching worker are counted.
const SPINNING: usize = 1_000;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "wake",
    what: "a thread outside submits a task to an idle pool",
    single_threaded: false,
    metrics: &[
        Metric { name: "p50_us", unit: "µs until it runs, median", lower_is_better: true },
        Metric { name: "p99_us", unit: "µs until it runs, 99th percentile", lower_is_better: true },
        Metric { name: "spinning_ns", unit: "ns until it runs, a worker searching", lower_is_better: true },
        Metric {
            name: "spinning_syscalls",
            unit: "wakes in 1,000 times, a worker searching",
            lower_is_better: true,
        },
    ],
    entries: &[Entry::here(&peers::SINEW, sinew), Entry::here(&peers::TOKIO, tokio)],
};

fn sinew(job: &Job) -> Readings {
    let pool = runtimes::sinew(job.threads);
    let handle = pool.handle();
    let mut readings = idle(job, |bell| submit(&handle, bell));
    readings.extend(spinning(&handle));
    runtimes::end_sinew(pool);
    readings
}

fn submit(handle: &Handle, bell: &'static Bell) {
    handle.submit(TaskRef::new(|_| bell.ring()), Placement::Anyone).expect("the pool is open");
}

fn tokio(job: &Job) -> Readings {
    let runtime = runtimes::tokio(job.threads);
    let handle = runtime.handle().clone();
    idle(job, |bell| drop(handle.spawn(async { bell.ring() })))
}

/// Wakes an idle pool again and again, where `submit` submits a task that rings the bell.
fn idle(job: &Job, submit: impl Fn(&'static Bell)) -> Readings {
    let bell = Bell::leaked();
    let once = || {
        thread::sleep(PAUSE);
        let asked = bell.ask();
        submit(bell);
        bell.wait_asleep() - asked
    };
    // The first one finds threads that have not even started.
    once();
    let micros = sorted((0..times(job)).map(|_| once() as f64 / 1e3).collect());
    vec![("p50_us", quantile(&micros, 0.5)), ("p99_us", quantile(&micros, 0.99))]
}

fn times(job: &Job) -> u64 {
    match job.pace {
        Pace::Exactly(times) => times,
        Pace::AtLeast(_) if job.pace.is_quick() => 30,
        Pace::AtLeast(_) => 400,
    }
}

/// The same with a worker that searches; and the system calls that it took.
fn spinning(handle: &Handle) -> Readings {
    let bell = Bell::leaked();
    let (mut nanos, mut wakes) = (Vec::new(), 0);
    while nanos.len() < SPINNING {
        let is_up = waits_for_a_searcher(handle);
        let before = handle.stats().wakes();
        let asked = bell.ask();
        submit(handle, bell);
        let taken = bell.wait_awake() - asked;
        if is_up {
            nanos.push(taken as f64);
            wakes += handle.stats().wakes() - before;
        }
    }
    vec![("spinning_ns", quantile(&sorted(nanos), 0.5)), ("spinning_syscalls", wakes as f64)]
}

/// Waits until a worker searches; false if none will, since all are asleep.
fn waits_for_a_searcher(handle: &Handle) -> bool {
    loop {
        let workers = handle.stats().workers;
        let any = |state| workers.iter().any(|worker| worker.state == state);
        if any(WorkerState::Searching) {
            return true;
        }
        if !any(WorkerState::Running) {
            return false;
        }
        hint::spin_loop();
    }
}

/// Rung by a task, heard by the thread that made it.
struct Bell {
    start: Instant,
    /// When it was rung, in nanoseconds from the start; nought before that.
    rung: AtomicU64,
    waiter: Thread,
}

impl Bell {
    /// For the calling thread to hear. Never freed: whoever rings still uses it when it has been heard.
    fn leaked() -> &'static Self {
        let (start, rung, waiter) = (Instant::now(), AtomicU64::new(0), thread::current());
        Box::leak(Box::new(Self { start, rung, waiter }))
    }

    /// It is going to be rung. Returns the time.
    fn ask(&self) -> u64 {
        self.rung.store(0, Ordering::Relaxed);
        self.now()
    }

    fn ring(&self) {
        self.rung.store(self.now(), Ordering::Release);
        self.waiter.unpark();
    }

    /// Sleeps until it has been rung. Returns when that was.
    fn wait_asleep(&self) -> u64 {
        self.wait(thread::park)
    }

    /// The same without sleeping.
    fn wait_awake(&self) -> u64 {
        self.wait(hint::spin_loop)
    }

    fn wait(&self, pause: fn()) -> u64 {
        loop {
            match self.rung.load(Ordering::Acquire) {
                0 => pause(),
                rung => return rung,
            }
        }
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// The value below which that part of them lies.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn quantiles_are_values_of_the_list() {
        let values: Vec<_> = (1..=101).map(f64::from).collect();
        assert_eq!((quantile(&values, 0.5), quantile(&values, 0.99)), (51.0, 100.0));
        assert_eq!(quantile(&[7.0], 0.99), 7.0);
    }
}
