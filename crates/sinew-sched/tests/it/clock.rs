//! A pool with a clock of the user's goes by that clock, and not by the system's.

use super::support::{
    Countdown, WORKERS, Watched, block_once, builder, occupy, wait_until, wait_until_all_are_gone,
};
use sinew_sched::{Driver, FutexDriver, Handle, Placement, Refusal, StuckWorker, TaskRef, WorkerState};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_secs(3600);

/// A clock some hours ahead of the system's: by one hour at first, so that a pool that compares
/// times of both clocks sees no time pass.
struct Ahead(AtomicU32);

impl Ahead {
    fn now(&self) -> Instant {
        Instant::now() + HOUR * self.0.load(Ordering::SeqCst)
    }

    fn pass_an_hour(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A driver that records the longest sleep that it was asked for, in seconds.
struct Noting {
    futex: FutexDriver,
    longest: Arc<AtomicU64>,
}

impl Driver for Noting {
    fn look(&self) -> io::Result<usize> {
        Ok(0)
    }

    fn sleep(&self, at_most: Option<Duration>) -> io::Result<()> {
        self.longest.fetch_max(at_most.map_or(0, |time| time.as_secs()), Ordering::SeqCst);
        self.futex.sleep(at_most)
    }

    fn unpark(&self) {
        self.futex.unpark();
    }

    fn is_watching(&self) -> bool {
        false
    }
}

/// Returns whether a shutdown has begun. It submits no task: there is no such worker.
fn is_closed(handle: &Handle) -> bool {
    let nowhere = Placement::Worker(handle.workers());
    handle.submit(TaskRef::new(|_| ()), nowhere).is_err_and(|error| error.refusal == Refusal::Closed)
}

/// A task runs for longer than the shutdown may take, which is an hour. The given clock decides
/// when that has passed.
#[test]
fn a_shutdown_ends_when_its_time_is_over_by_the_given_clock() {
    static CLOCK: Ahead = Ahead(AtomicU32::new(1));
    for workers in WORKERS {
        let longest = Arc::new(AtomicU64::new(0));
        let noted = longest.clone();
        let driver = move |_| -> io::Result<Box<dyn Driver>> {
            Ok(Box::new(Noting { futex: FutexDriver::default(), longest: noted.clone() }))
        };
        let pool = builder().workers(workers).clock(|| CLOCK.now()).driver(driver).build().unwrap();
        let mut watched = Watched::with(pool);
        let handle = watched.handle();
        let gate = occupy(&handle, 0);
        let report = thread::scope(|scope| {
            let shutdown = scope.spawn(|| watched.shutdown(Some(HOUR)));
            wait_until(|| is_closed(&handle));
            // All workers but the task's sleep until the deadline.
            wait_until(|| workers == 1 || handle.is_over() || longest.load(Ordering::SeqCst) > 0);
            assert!(!handle.is_over());
            CLOCK.pass_an_hour();
            // Makes the waiting thread read the clock again.
            handle.begin_shutdown();
            wait_until(|| handle.is_over());
            shutdown.join().unwrap()
        });
        let is_busy = |stuck: &StuckWorker| (stuck.worker, stuck.is_running) == (0, true);
        assert!(
            longest.load(Ordering::SeqCst) <= HOUR.as_secs(),
            "a worker was to sleep beyond the deadline"
        );
        assert!(!report.drained && report.stuck.iter().any(is_busy), "{report:?}");
        gate.count_down();
        wait_until_all_are_gone(&handle);
    }
}

/// No thread waits for the end, so a worker has to see the deadline: it is woken to look.
#[test]
fn a_sleeping_worker_ends_a_pool_whose_deadline_passed_by_the_given_clock() {
    static CLOCK: Ahead = Ahead(AtomicU32::new(1));
    for workers in [2, 8, 64] {
        let watched = Watched::with(builder().workers(workers).clock(|| CLOCK.now()).build().unwrap());
        let handle = watched.handle();
        let (begun, gate) = (Countdown::new(1), Countdown::new(1));
        let (flag, opened, own) = (begun.clone(), gate.clone(), handle.clone());
        let hog = TaskRef::new(move |_| {
            // A worker of the pool calls it, so it does not wait.
            own.shutdown(Some(HOUR));
            flag.count_down();
            opened.wait();
        });
        handle.submit(hog, Placement::Worker(0)).unwrap();
        begun.wait();
        CLOCK.pass_an_hour();
        // Makes the workers read the clock again.
        handle.begin_shutdown();
        wait_until(|| handle.is_over());
        gate.count_down();
        wait_until_all_are_gone(&handle);
        drop(watched);
    }
}

/// A spare worker that compared its clock with the system's would stay for an hour.
#[test]
fn a_spare_worker_goes_when_its_time_is_over_by_the_given_clock() {
    static CLOCK: Ahead = Ahead(AtomicU32::new(1));
    let watched = Watched::with(builder().workers(1).clock(|| CLOCK.now()).build().unwrap());
    let handle = watched.handle();
    block_once(&handle);
    wait_until(|| handle.stats().workers[1].state == WorkerState::Absent);
    watched.finish();
}
