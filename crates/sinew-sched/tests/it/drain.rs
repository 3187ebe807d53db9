//! A drain ends when no work is left, and not before.

use super::support::{Countdown, Random, Watched, block_once, builder, wait_until, wait_until_all_sleep};
use sinew_sched::{Driver, FutexDriver, Handle, Placement, TaskRef, WorkerState};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

/// How long the search for errors takes for each number of workers.
const TIME: Duration = Duration::from_millis(350);

/// A token that moves from one inbox to another while the inboxes are read is not missed.
#[test]
fn a_token_that_hops_during_a_drain_makes_all_its_hops() {
    for workers in [3, 4, 8] {
        let mut random = Random::new(workers as u64);
        let end = Instant::now() + TIME;
        while Instant::now() < end {
            let watched = Watched::new(workers);
            let left = Countdown::new(random.below(500) as usize + 1);
            let handle = watched.handle();
            // Against the order in which the inboxes are read.
            handle.submit(hop(&handle, workers, &left), Placement::Worker(0)).unwrap();
            watched.finish();
            assert_eq!(left.left(), 0);
        }
    }
}

fn hop(handle: &Handle, workers: usize, left: &Countdown) -> TaskRef {
    let (handle, left) = (handle.clone(), left.clone());
    TaskRef::new(move |context| {
        left.count_down();
        if left.left() > 0 {
            let next = (context.worker().unwrap() + workers - 1) % workers;
            handle.reschedule(hop(&handle, workers, &left), Placement::Worker(next));
        }
    })
}

/// Waits until the pool drains and this worker has slept once more since: it has seen the drain,
/// and was not the last.
fn wait_until_seen(handle: &Handle, worker: usize, sleeps: u64) {
    wait_until(|| handle.submit(TaskRef::new(|_| {}), Placement::Anyone).is_err());
    wait_until(|| handle.stats().workers[worker].sleeps > sleeps);
}

/// The last idle worker is not the last worker: a spare one that may end has not left its seat yet.
#[test]
fn a_drain_ends_with_a_spare_worker_that_is_on_its_way_out() {
    let (leaving, gate) = (Countdown::new(1), Countdown::new(1));
    let (left, opened) = (leaving.clone(), gate.clone());
    let pool = builder().workers(1).on_stop(move |context| {
        if context.worker() == Some(1) {
            left.count_down();
            opened.wait();
        }
    });
    let watched = Watched::with(pool.build().unwrap());
    let handle = watched.handle();
    block_once(&handle);
    leaving.wait();
    wait_until(|| handle.stats().workers[0].state == WorkerState::Sleeping);
    let sleeps = handle.stats().workers[0].sleeps;
    let opener = thread::spawn(move || {
        wait_until_seen(&handle, 0, sleeps);
        gate.count_down();
    });
    watched.finish();
    opener.join().unwrap();
}

/// A spare worker that is not needed any more, and has not ended yet, ends at once.
#[test]
fn a_drain_ends_soon_after_a_block() {
    for round in 0..50 {
        let pool = builder().workers(1).on_stop(|context| {
            if context.worker() == Some(1) {
                (0..100).for_each(|_| thread::yield_now());
            }
        });
        let watched = Watched::with(pool.build().unwrap());
        block_once(&watched.handle());
        (0..round).for_each(|_| thread::yield_now());
        watched.finish();
    }
}

/// A driver whose calls do not return while it is armed, until the gate opens.
struct SlowDriver {
    gate: Countdown,
    is_armed: Arc<AtomicBool>,
    futex: FutexDriver,
}

impl Driver for SlowDriver {
    fn look(&self) -> io::Result<usize> {
        Ok(0)
    }

    fn sleep(&self, at_most: Option<Duration>) -> io::Result<()> {
        self.futex.sleep(at_most)?;
        if self.is_armed.load(Ordering::Relaxed) {
            self.gate.wait();
        }
        Ok(())
    }

    fn unpark(&self) {
        self.futex.unpark();
    }

    fn is_watching(&self) -> bool {
        false
    }
}

/// A worker was sent a task and has not got up yet, and all others have nothing to do.
#[test]
fn a_drain_waits_for_a_task_that_has_arrived_and_was_not_taken() {
    for workers in [2, 8, 64] {
        let (gate, is_armed) = (Countdown::new(1), Arc::new(AtomicBool::new(false)));
        let (opened, flag) = (gate.clone(), is_armed.clone());
        let pool = builder().workers(workers).driver(move |worker| match worker {
            0 => {
                let (gate, is_armed) = (opened.clone(), flag.clone());
                Ok(Box::new(SlowDriver { gate, is_armed, futex: FutexDriver::default() }))
            }
            _ => Ok(Box::new(FutexDriver::default())),
        });
        let watched = Watched::with(pool.build().unwrap());
        let handle = watched.handle();
        wait_until_all_sleep(&handle);
        is_armed.store(true, Ordering::Relaxed);
        let done = Countdown::new(1);
        handle.submit(done.task(), Placement::Worker(0)).unwrap();
        let sleeps: Vec<_> = handle.stats().workers.iter().map(|worker| worker.sleeps).collect();
        let opener = thread::spawn(move || {
            (1..workers).for_each(|worker| wait_until_seen(&handle, worker, sleeps[worker]));
            gate.count_down();
        });
        watched.finish();
        assert_eq!(done.left(), 0);
        opener.join().unwrap();
    }
}

/// A task begins on one worker and ends on another. Between the two, it is in no queue.
#[test]
fn a_drain_waits_for_a_task_that_may_end_anywhere() {
    for workers in [1, 2, 8, 64] {
        let watched = Watched::new(workers);
        let handle = watched.handle();
        let begun = Countdown::new(1);
        let flag = begun.clone();
        let begin = TaskRef::new(move |context| {
            context.core().own_roaming();
            flag.count_down();
        });
        handle.submit(begin, Placement::Worker(0)).unwrap();
        begun.wait();
        wait_until_all_sleep(&handle);
        let sleeps: Vec<_> = handle.stats().workers.iter().map(|worker| worker.sleeps).collect();
        handle.begin_shutdown();
        (0..workers).for_each(|worker| wait_until_seen(&handle, worker, sleeps[worker]));
        assert!(!handle.is_over());
        let done = Countdown::new(1);
        let flag = done.clone();
        let end = TaskRef::new(move |context| {
            context.core().disown_roaming();
            flag.count_down();
        });
        handle.reschedule(end, Placement::Worker(workers - 1));
        watched.finish();
        assert_eq!(done.left(), 0);
    }
}

/// A driver that makes a new task while its worker sleeps in it, once.
struct MakingDriver {
    handle: Arc<OnceLock<Handle>>,
    /// The pool may begin to drain; and a worker has checked it since.
    begins: Countdown,
    gate: Countdown,
    made: Countdown,
    futex: FutexDriver,
}

impl Driver for MakingDriver {
    fn look(&self) -> io::Result<usize> {
        Ok(0)
    }

    fn sleep(&self, at_most: Option<Duration>) -> io::Result<()> {
        if let Some(handle) = self.handle.get().filter(|_| self.begins.left() != 0) {
            handle.deliver(|| {
                self.begins.count_down();
                self.gate.wait();
                handle.reschedule(self.made.task(), Placement::Anyone);
            });
        }
        self.futex.sleep(at_most.or(Some(Duration::from_millis(1))))
    }

    fn unpark(&self) {
        self.futex.unpark();
    }

    fn is_watching(&self) -> bool {
        false
    }
}

/// All workers sleep, and the driver of one has decided to make a task.
#[test]
fn a_drain_waits_for_what_a_driver_makes_of_an_event() {
    let (begins, gate, made) = (Countdown::new(1), Countdown::new(1), Countdown::new(1));
    let handle = Arc::<OnceLock<Handle>>::default();
    let (copy, copies) = (handle.clone(), (begins.clone(), gate.clone(), made.clone()));
    let pool = builder().workers(2).driver(move |worker| match worker {
        0 => {
            let (handle, (begins, gate, made)) = (copy.clone(), copies.clone());
            Ok(Box::new(MakingDriver { handle, begins, gate, made, futex: FutexDriver::default() }))
        }
        _ => Ok(Box::new(FutexDriver::default())),
    });
    let watched = Watched::with(pool.build().unwrap());
    let _ = handle.set(watched.handle());
    begins.wait();
    let pool = watched.handle();
    wait_until(|| pool.stats().workers[1].state == WorkerState::Sleeping);
    let sleeps = pool.stats().workers[1].sleeps;
    let opener = thread::spawn(move || {
        wait_until(|| pool.submit(TaskRef::new(|_| {}), Placement::Anyone).is_err());
        // The other worker has checked whether it is the last, or has ended the pool.
        wait_until(|| {
            let worker = pool.stats().workers[1];
            worker.sleeps > sleeps || worker.state == WorkerState::Absent
        });
        gate.count_down();
    });
    watched.finish();
    opener.join().unwrap();
    assert_eq!(made.left(), 0);
}
