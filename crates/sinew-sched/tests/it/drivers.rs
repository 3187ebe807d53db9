//! The seam to drivers: looked into, slept in, woken, visited by siblings, and failing.

use super::support::{Countdown, Watched, wait_until_all_sleep};
use sinew_sched::{Driver, FutexDriver, Handle, Placement, Pool, TaskRef, WorkerState};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

/// What a test sees of its drivers, and tells them to do.
#[derive(Default)]
struct Board {
    handle: OnceLock<Handle>,
    /// Tasks that a look delivers, wherever it is done.
    events: Mutex<Vec<TaskRef>>,
    is_watching: AtomicBool,
    looks: AtomicUsize,
    failing: AtomicBool,
    inside: AtomicUsize,
}

struct TestDriver {
    board: Arc<Board>,
    /// This driver has the events.
    has_events: bool,
    futex: FutexDriver,
}

impl TestDriver {
    fn deliver(&self) -> usize {
        assert_eq!(self.board.inside.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
        self.board.looks.fetch_add(1, Ordering::Relaxed);
        let events = std::mem::take(&mut *self.board.events.lock().unwrap());
        let count = events.len();
        for task in events {
            self.board.handle.get().unwrap().reschedule(task, Placement::Anyone);
        }
        self.board.inside.fetch_sub(1, Ordering::SeqCst);
        count
    }
}

impl Driver for TestDriver {
    fn look(&self) -> io::Result<usize> {
        if self.board.failing.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Other.into());
        }
        Ok(if self.has_events { self.deliver() } else { 0 })
    }

    fn sleep(&self, at_most: Option<Duration>) -> io::Result<()> {
        if self.board.failing.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Other.into());
        }
        self.futex.sleep(at_most)?;
        if self.has_events {
            self.deliver();
        }
        Ok(())
    }

    fn unpark(&self) {
        self.futex.unpark();
    }

    fn is_watching(&self) -> bool {
        self.has_events && self.board.is_watching.load(Ordering::Relaxed)
    }

    fn is_watching_for_others(&self) -> bool {
        self.is_watching()
    }
}

/// A pool in which worker 0's driver has the events.
fn pool(workers: usize) -> (Watched, Arc<Board>) {
    let board = Arc::new(Board::default());
    let copy = board.clone();
    let pool = Pool::builder()
        .workers(workers)
        .driver(move |worker| {
            let (board, futex) = (copy.clone(), FutexDriver::default());
            Ok(Box::new(TestDriver { board, has_events: worker == 0, futex }))
        })
        .build()
        .unwrap();
    assert!(board.handle.set(pool.handle()).is_ok());
    (Watched::with(pool), board)
}

#[test]
fn a_busy_worker_looks_into_its_driver_now_and_then() {
    let (watched, board) = pool(1);
    board.is_watching.store(true, Ordering::Relaxed);
    let done = Countdown::new(2);
    let stop = Arc::new(AtomicBool::new(false));
    watched.handle().submit(storm(&stop, &done), Placement::Worker(0)).unwrap();
    let copy = done.clone();
    let event = TaskRef::new(move |_| {
        stop.store(true, Ordering::Relaxed);
        copy.count_down();
    });
    board.events.lock().unwrap().push(event);
    done.wait();
    watched.finish();
    board.handle.get().unwrap();
}

fn storm(stop: &Arc<AtomicBool>, done: &Countdown) -> TaskRef {
    let (stop, done) = (stop.clone(), done.clone());
    TaskRef::new(move |context| {
        if stop.load(Ordering::Relaxed) {
            done.count_down();
        } else {
            context.core().push(storm(&stop, &done));
        }
    })
}

#[test]
fn an_idle_sibling_looks_into_a_neglected_driver() {
    for asleep in [false, true] {
        let (watched, board) = pool(2);
        if asleep {
            wait_until_all_sleep(&watched.handle());
        }
        neglect(watched, &board);
    }
}

fn neglect(watched: Watched, board: &Arc<Board>) {
    let (stop, registry) = (Arc::new(AtomicBool::new(false)), board.clone());
    let flag = stop.clone();
    let (hog_runs, hog_done) = (Countdown::new(1), Countdown::new(1));
    let (runs, ended) = (hog_runs.clone(), hog_done.clone());
    // A task that computes for long, and ends only when an event of its own worker's driver is delivered.
    let hog = TaskRef::new(move |context| {
        registry.is_watching.store(true, Ordering::Relaxed);
        context.begin_watch();
        runs.count_down();
        while !flag.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
        ended.count_down();
    });
    watched.handle().submit(hog, Placement::Worker(0)).unwrap();
    hog_runs.wait();
    let event = TaskRef::new(move |_| stop.store(true, Ordering::Release));
    board.events.lock().unwrap().push(event);
    hog_done.wait();
    let handle = watched.handle();
    watched.finish();
    assert!(handle.stats().workers[1].looks_for_others > 0);
}

#[test]
fn a_driver_with_nothing_registered_is_not_looked_into() {
    let (watched, board) = pool(2);
    let done = Countdown::new(10_000);
    watched.handle().submit_batch((0..10_000).map(|_| done.task()), Placement::Anyone).unwrap();
    done.wait();
    let stats = watched.pool().stats();
    assert!(
        stats.workers.iter().all(|worker| worker.looks == 0 && worker.looks_for_others == 0),
        "{stats:?}"
    );
    drop(board);
    watched.finish();
}

#[test]
fn a_driver_that_fails_delays_and_loses_nothing() {
    for workers in [1, 2, 8] {
        let (watched, board) = pool(workers);
        board.is_watching.store(true, Ordering::Relaxed);
        board.failing.store(true, Ordering::Relaxed);
        for round in 0..20 {
            let done = Countdown::new(workers + 1);
            watched.handle().submit(done.task(), Placement::Anyone).unwrap();
            (0..workers).for_each(|worker| {
                watched.handle().submit(done.task(), Placement::Worker(worker)).unwrap();
            });
            done.wait();
            if round % 5 == 4 {
                thread::sleep(Duration::from_millis(2));
            }
        }
        let handle = watched.handle();
        watched.finish();
        assert!(handle.stats().workers.iter().map(|worker| worker.driver_errors).sum::<u64>() > 0);
    }
}

/// A driver that keeps the first one who looks into it, and with it a searcher searching, until it is told not to.
struct Keeper {
    /// Says when somebody has come, and lets them go.
    gate: Arc<(Countdown, Countdown)>,
    is_open: Arc<AtomicBool>,
    futex: FutexDriver,
}

impl Driver for Keeper {
    fn look(&self) -> io::Result<usize> {
        if !self.is_open.swap(true, Ordering::Relaxed) {
            self.gate.0.count_down();
            self.gate.1.wait();
        }
        Ok(0)
    }

    fn sleep(&self, at_most: Option<Duration>) -> io::Result<()> {
        self.futex.sleep(at_most)
    }

    fn unpark(&self) {
        self.futex.unpark();
    }

    fn is_watching(&self) -> bool {
        true
    }
}

/// While somebody searches, nobody makes a system call to wake anybody.
#[test]
fn a_searcher_spares_producers_the_system_call() {
    let gate = Arc::new((Countdown::new(1), Countdown::new(1)));
    let (copy, open) = (gate.clone(), Arc::new(AtomicBool::new(false)));
    let make = move |_| -> io::Result<Box<dyn Driver>> {
        let (gate, is_open) = (copy.clone(), open.clone());
        Ok(Box::new(Keeper { gate, is_open, futex: FutexDriver::default() }))
    };
    let watched = Watched::with(Pool::builder().workers(2).driver(make).build().unwrap());
    gate.0.wait();
    // The other one may not search as well, and goes to sleep.
    while watched.pool().stats().workers.iter().all(|worker| worker.state != WorkerState::Sleeping) {
        thread::yield_now();
    }
    let done = Countdown::new(1_000);
    for _ in 0..1_000 {
        watched.handle().submit(done.task(), Placement::Anyone).unwrap();
    }
    assert_eq!(watched.pool().stats().wakes(), 0);
    gate.1.count_down();
    done.wait();
    watched.finish();
}
