//! The seam to drivers: polled, slept in, woken, polled by siblings, and failing.

use super::support::{Countdown, Watched, builder, wait_until, wait_until_all_sleep};
use sinew_sched::{Driver, FutexDriver, Handle, Placement, TaskRef, WorkerState};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

/// What a test reads from its drivers, and tells them to do.
#[derive(Default)]
struct Board {
    handle: OnceLock<Handle>,
    /// Tasks that the next poll delivers, on any thread.
    events: Mutex<Vec<TaskRef>>,
    is_watching: AtomicBool,
    looks: AtomicUsize,
    failing: AtomicBool,
    inside: AtomicUsize,
    /// How often a thread entered while another one was inside. Not an assertion there: a driver's
    /// panic ends in the pool.
    overlaps: AtomicUsize,
    /// A poll counts the first down and waits for the second, while they are set.
    gate: Mutex<Option<(Countdown, Countdown)>>,
}

impl Board {
    /// Calls `body`, which two threads must never run at once.
    fn enter<R>(&self, body: impl FnOnce() -> R) -> R {
        self.overlaps.fetch_add(self.inside.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
        let result = body();
        self.inside.fetch_sub(1, Ordering::SeqCst);
        result
    }

    /// Holds the next thread that polls. Returns a countdown that ends when it has arrived, and one
    /// that lets it continue.
    fn keep_the_next(&self) -> (Countdown, Countdown) {
        let (came, opened) = (Countdown::new(1), Countdown::new(1));
        *self.gate.lock().unwrap() = Some((came.clone(), opened.clone()));
        (came, opened)
    }

    fn pass_the_gate(&self) {
        let gate = self.gate.lock().unwrap().take();
        if let Some((came, opened)) = gate {
            came.count_down();
            opened.wait();
        }
    }
}

struct TestDriver {
    board: Arc<Board>,
    /// Whether this driver has the events.
    has_events: bool,
    futex: FutexDriver,
}

impl TestDriver {
    fn deliver(&self) -> usize {
        self.board.looks.fetch_add(1, Ordering::Relaxed);
        let events = std::mem::take(&mut *self.board.events.lock().unwrap());
        let count = events.len();
        for task in events {
            self.board.handle.get().unwrap().reschedule(task, Placement::Anyone);
        }
        count
    }
}

impl Driver for TestDriver {
    fn look(&self) -> io::Result<usize> {
        if self.board.failing.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Other.into());
        }
        let look = || {
            self.board.pass_the_gate();
            self.deliver()
        };
        Ok(if self.has_events { self.board.enter(look) } else { 0 })
    }

    fn sleep(&self, at_most: Option<Duration>) -> io::Result<()> {
        if self.board.failing.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Other.into());
        }
        let sleep = || {
            self.futex.sleep(at_most)?;
            self.deliver();
            Ok(())
        };
        if self.has_events { self.board.enter(sleep) } else { self.futex.sleep(at_most) }
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

/// Returns a pool in which worker 0's driver has the events.
fn pool(workers: usize) -> (Watched, Arc<Board>) {
    let board = Arc::new(Board::default());
    let copy = board.clone();
    let pool = builder()
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
    // A task that computes for long, and ends only when an event of its own worker's driver is
    // delivered.
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
    assert_eq!(board.overlaps.load(Ordering::SeqCst), 0);
}

/// Makes a worker run until the flag is set, and waits until it does. Worker 0 has its driver
/// watched meanwhile.
fn keep_busy(watched: &Watched, worker: usize, board: &Arc<Board>, stop: &Arc<AtomicBool>) -> Countdown {
    let (runs, done) = (Countdown::new(1), Countdown::new(1));
    let (begun, ended, stop, board) = (runs.clone(), done.clone(), stop.clone(), board.clone());
    let hog = TaskRef::new(move |context| {
        if worker == 0 {
            board.is_watching.store(true, Ordering::Relaxed);
            context.begin_watch();
        }
        begun.count_down();
        wait_until(|| stop.load(Ordering::Acquire));
        ended.count_down();
    });
    watched.handle().submit(hog, Placement::Worker(worker)).unwrap();
    runs.wait();
    done
}

/// The idle worker that watches a busy one's driver goes to work itself: another one takes the
/// watch.
#[test]
fn a_watcher_that_goes_to_work_is_replaced() {
    for workers in [3, 8, 64] {
        let (watched, board) = pool(workers);
        let (handle, stop) = (watched.handle(), Arc::new(AtomicBool::new(false)));
        wait_until_all_sleep(&handle);
        let mut busy = vec![keep_busy(&watched, 0, &board, &stop)];
        // As often as there is a worker left to replace it, up to a few times.
        for _ in 0..(workers - 2).min(4) {
            let before = handle.stats().workers;
            let looks_more = |worker: &usize| {
                handle.stats().workers[*worker].looks_for_others > before[*worker].looks_for_others
            };
            let mut watcher = None;
            wait_until(|| {
                watcher = (1..workers).find(looks_more);
                watcher.is_some()
            });
            busy.push(keep_busy(&watched, watcher.unwrap(), &board, &stop));
        }
        board.events.lock().unwrap().push(TaskRef::new(move |_| stop.store(true, Ordering::Release)));
        busy.iter().for_each(Countdown::wait);
        watched.finish();
        assert_eq!(board.overlaps.load(Ordering::SeqCst), 0);
    }
}

/// An owner that polls for long delays no other worker, and no other worker polls its driver
/// meanwhile.
#[test]
fn a_sibling_does_not_come_while_the_owner_looks() {
    let (watched, board) = pool(2);
    let handle = watched.handle();
    wait_until_all_sleep(&handle);
    board.is_watching.store(true, Ordering::Relaxed);
    let (done, stop) = (Countdown::new(1), Arc::new(AtomicBool::new(false)));
    handle.submit(storm(&stop, &done), Placement::Worker(0)).unwrap();
    let looks = || handle.stats().workers[1].looks_for_others;
    let is_kept = || {
        let (came, gate) = board.keep_the_next();
        came.wait();
        let (before, owner) = (looks(), handle.stats().workers[0].looks);
        // Twice, so that one of them has ended. If none comes, the held thread was the sibling.
        wait_until(|| looks() >= before + 2 || handle.stats().workers[0].looks > owner);
        gate.count_down();
        looks() >= before + 2
    };
    wait_until(is_kept);
    stop.store(true, Ordering::Relaxed);
    done.wait();
    watched.finish();
    assert_eq!(board.overlaps.load(Ordering::SeqCst), 0);
}

/// A sibling that polls for long keeps the owner from sleeping there, and has no other effect.
#[test]
fn an_owner_does_not_sleep_while_a_sibling_looks() {
    let (watched, board) = pool(2);
    let (handle, stop) = (watched.handle(), Arc::new(AtomicBool::new(false)));
    wait_until_all_sleep(&handle);
    let busy = keep_busy(&watched, 0, &board, &stop);
    let (came, gate) = board.keep_the_next();
    came.wait();
    let sleeps = handle.stats().workers[0].sleeps;
    stop.store(true, Ordering::Release);
    busy.wait();
    wait_until(|| handle.stats().workers[0].sleeps > sleeps);
    // Time for an error to appear; without an error, the sleep changes nothing.
    thread::sleep(Duration::from_millis(5));
    gate.count_down();
    let done = Countdown::new(1);
    handle.submit(done.task(), Placement::Worker(0)).unwrap();
    done.wait();
    watched.finish();
    assert_eq!(board.overlaps.load(Ordering::SeqCst), 0);
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

/// A driver that holds the first thread that polls it twice, until it is released, and with it a
/// searcher. A thread that polls for the first time has not begun to search.
struct Keeper {
    is_known: AtomicBool,
    /// The first says that a thread has arrived, the second releases it.
    gate: Arc<(Countdown, Countdown)>,
    is_open: Arc<AtomicBool>,
    futex: FutexDriver,
}

impl Driver for Keeper {
    fn look(&self) -> io::Result<usize> {
        if self.is_known.swap(true, Ordering::Relaxed) && !self.is_open.swap(true, Ordering::Relaxed) {
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

/// While a worker searches, no thread makes a system call to wake another one.
#[test]
fn a_searcher_spares_producers_the_system_call() {
    let gate = Arc::new((Countdown::new(1), Countdown::new(1)));
    let (copy, open) = (gate.clone(), Arc::new(AtomicBool::new(false)));
    let make = move |_| -> io::Result<Box<dyn Driver>> {
        let (gate, is_open) = (copy.clone(), open.clone());
        Ok(Box::new(Keeper {
            is_known: AtomicBool::new(false),
            gate,
            is_open,
            futex: FutexDriver::default(),
        }))
    };
    let watched = Watched::with(builder().workers(2).driver(make).build().unwrap());
    gate.0.wait();
    // The other worker may not search as well, and goes to sleep.
    while watched.pool().stats().workers.iter().all(|worker| worker.state != WorkerState::Sleeping) {
        thread::yield_now();
    }
    let tasks = 1_000;
    let done = Countdown::new(tasks);
    for _ in 0..tasks {
        watched.handle().submit(done.task(), Placement::Anyone).unwrap();
    }
    assert_eq!(watched.pool().stats().wakes(), 0);
    gate.1.count_down();
    done.wait();
    watched.finish();
}

/// The spare worker watches a blocked worker's driver. When that worker is back, the spare one is
/// not needed any more, and another worker takes the watch.
#[test]
fn a_watcher_that_is_surplus_is_replaced() {
    let (watched, board) = pool(2);
    let (handle, stop) = (watched.handle(), Arc::new(AtomicBool::new(false)));
    wait_until_all_sleep(&handle);
    // Only the spare worker has time to watch at first.
    let gate = Arc::new(AtomicBool::new(false));
    let other = keep_busy(&watched, 1, &board, &gate);
    let (back, runs, done) = (Countdown::new(1), Countdown::new(1), Countdown::new(1));
    let (opened, begun, ended) = (back.clone(), runs.clone(), done.clone());
    let (is_stopped, copy) = (stop.clone(), board.clone());
    let hog = TaskRef::new(move |context| {
        copy.is_watching.store(true, Ordering::Relaxed);
        context.begin_watch();
        context.block(|| opened.wait());
        begun.count_down();
        wait_until(|| is_stopped.load(Ordering::Acquire));
        ended.count_down();
    });
    handle.submit(hog, Placement::Worker(0)).unwrap();
    wait_until(|| handle.stats().workers.get(2).is_some_and(|spare| spare.looks_for_others > 1));
    gate.store(true, Ordering::Release);
    other.wait();
    wait_until(|| handle.stats().workers[1].state == WorkerState::Sleeping);
    back.count_down();
    runs.wait();
    wait_until(|| handle.stats().workers[2].state == WorkerState::Absent);
    board.events.lock().unwrap().push(TaskRef::new(move |_| stop.store(true, Ordering::Release)));
    done.wait();
    watched.finish();
    assert_eq!(board.overlaps.load(Ordering::SeqCst), 0);
}
