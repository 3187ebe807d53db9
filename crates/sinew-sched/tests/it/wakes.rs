//! The search for lost wake-ups: a lost wake-up hangs a test, and the watch reports which workers
//! slept.

use super::support::{
    Countdown, Random, WORKERS, Watched, builder, on_all_workers, wait_until, wait_until_all_sleep,
};
use sinew_sched::{Placement, TaskRef, WorkerState};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long each search takes.
const TIME: Duration = Duration::from_millis(400);

/// A thread submits one task, waits for it, and submits the next: each time the pool may be
/// running, searching, lying down or asleep.
#[test]
fn one_task_at_a_time_is_never_slept_through() {
    for workers in WORKERS {
        let watched = Watched::new(workers);
        let mut random = Random::new(workers as u64);
        let end = Instant::now() + TIME;
        while Instant::now() < end {
            let done = Countdown::new(1);
            let to = match random.below(2) {
                0 => Placement::Anyone,
                _ => Placement::Worker(random.below(workers as u64) as usize),
            };
            watched.handle().submit(done.task(), to).unwrap();
            done.wait();
            pause(&mut random);
        }
        watched.finish();
    }
}

/// A pause that is short enough to meet a searcher, or long enough to meet a sleeper, or in
/// between.
fn pause(random: &mut Random) {
    let end = Instant::now() + Duration::from_micros(random.below(120));
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

/// Tasks that need one another: a task is done only when its sibling is. Each is submitted by the
/// other's worker, so that a lost wake-up, or a searcher that leaves without waking a worker,
/// hangs.
#[test]
fn pairs_that_need_each_other_meet() {
    for workers in [2, 8, 64] {
        let watched = Watched::new(workers);
        let end = Instant::now() + TIME;
        let mut random = Random::new(workers as u64);
        while Instant::now() < end {
            let pairs = random.below(workers as u64 / 2) as usize + 1;
            let done = Countdown::new(2 * pairs);
            for _ in 0..pairs {
                let meeting = Countdown::new(2);
                let task = meet(&meeting, &done, true);
                watched.handle().submit(task, Placement::Anyone).unwrap();
            }
            done.wait();
            pause(&mut random);
        }
        watched.finish();
    }
}

fn meet(meeting: &Countdown, done: &Countdown, is_first: bool) -> TaskRef {
    let (meeting, done) = (meeting.clone(), done.clone());
    TaskRef::new(move |context| {
        if is_first {
            context.submit(meet(&meeting, &done, false));
        }
        meeting.count_down();
        meeting.wait();
        done.count_down();
    })
}

/// Workers wake one another by posting, in a ring.
#[test]
fn a_token_goes_round_a_ring_of_workers() {
    for workers in WORKERS {
        let watched = Watched::new(workers);
        let done = Countdown::new(1);
        let handle = watched.handle();
        let task = token(&handle, workers, 2_000, &done);
        handle.submit(task, Placement::Worker(0)).unwrap();
        done.wait();
        watched.finish();
    }
}

fn token(handle: &sinew_sched::Handle, workers: usize, left: usize, done: &Countdown) -> TaskRef {
    let (handle, done) = (handle.clone(), done.clone());
    TaskRef::new(move |context| {
        if left == 0 {
            return done.count_down();
        }
        let next = (context.worker().unwrap() + 1) % workers;
        handle.submit(token(&handle, workers, left - 1, &done), Placement::Worker(next)).unwrap();
    })
}

/// A batch wakes as many workers as it has tasks for: tasks that all need to run at once do.
#[test]
fn a_batch_wakes_enough_workers() {
    for workers in WORKERS {
        let watched = Watched::new(workers);
        for _ in 0..20 {
            let meeting = Countdown::new(workers);
            let done = Countdown::new(workers);
            let tasks = (0..workers).map(|_| meet(&meeting, &done, false));
            watched.handle().submit_batch(tasks, Placement::Anyone).unwrap();
            done.wait();
        }
        watched.finish();
    }
}

/// Once nothing happens, no worker wakes. A worker that was woken for the batch may get a CPU only
/// later, so the test waits until all have been asleep for a while. If one of them kept waking for
/// nothing, that would never be so.
#[test]
fn an_idle_pool_sleeps() {
    for workers in WORKERS {
        let watched = Watched::new(workers);
        let done = Countdown::new(1_000);
        watched.handle().submit_batch((0..1_000).map(|_| done.task()), Placement::Anyone).unwrap();
        done.wait();
        let handle = watched.handle();
        let sleeps = || handle.stats().workers.iter().map(|worker| worker.sleeps).sum::<u64>();
        wait_until(|| {
            wait_until_all_sleep(&handle);
            let before = sleeps();
            thread::sleep(Duration::from_millis(50));
            sleeps() == before
        });
        watched.finish();
    }
}

/// Other workers can take a task that yielded, when its worker continues with a task that only that
/// worker can run.
#[test]
fn a_yielded_task_is_not_kept_from_the_others() {
    for round in 0..50 {
        let watched = Watched::new(2);
        if round % 2 == 0 {
            wait_until_all_sleep(&watched.handle());
        }
        let (met, done) = (Countdown::new(1), Countdown::new(1));
        let ended = done.clone();
        let parent = TaskRef::new(move |context| {
            let awaited = met.clone();
            context.core().push(TaskRef::new(move |_| {
                awaited.wait();
                ended.count_down();
            }));
            context.yield_to_others(met.task());
        });
        watched.handle().submit(parent, Placement::Worker(0)).unwrap();
        done.wait();
        watched.finish();
    }
}

/// Other workers can take the tasks that a worker moves from the shared queue to its deque.
#[test]
fn tasks_taken_on_stock_are_not_kept_from_the_others() {
    for workers in [2, 8] {
        let watched = Watched::new(workers);
        for _ in 0..200 {
            let (meeting, done) = (Countdown::new(2), Countdown::new(2));
            let tasks = (0..2).map(|_| meet(&meeting, &done, false));
            watched.handle().submit_batch(tasks, Placement::Anyone).unwrap();
            done.wait();
        }
        watched.finish();
    }
}

/// A worker where two tasks yield leaves one of them to others: its next task is the other one.
#[test]
fn two_yielded_tasks_meet() {
    for workers in [2, 8, 64] {
        for _ in 0..10 {
            let watched = Watched::new(workers);
            wait_until_all_sleep(&watched.handle());
            let (meeting, done) = (Countdown::new(2), Countdown::new(2));
            let (first, second) = (meet(&meeting, &done, false), meet(&meeting, &done, false));
            let parent = TaskRef::new(move |context| {
                context.yield_to_others(first);
                context.yield_to_others(second);
            });
            watched.handle().submit(parent, Placement::Worker(0)).unwrap();
            done.wait();
            watched.finish();
        }
    }
}

/// While the hook runs, its worker does not search, so another one does.
#[test]
fn work_of_a_hook_that_takes_long_is_taken_by_others() {
    for workers in [2, 8, 64] {
        let (is_armed, done) = (Arc::new(AtomicBool::new(false)), Countdown::new(1));
        let (armed, copy) = (is_armed.clone(), done.clone());
        let pool = builder().workers(workers).before_sleep(move |context| {
            if context.worker() == Some(0) && armed.swap(false, Ordering::Relaxed) {
                let child = Countdown::new(1);
                context.submit(child.task());
                child.wait();
                copy.count_down();
            }
        });
        let watched = Watched::with(pool.build().unwrap());
        wait_until_all_sleep(&watched.handle());
        is_armed.store(true, Ordering::Relaxed);
        watched.handle().submit(TaskRef::new(|_| {}), Placement::Worker(0)).unwrap();
        done.wait();
        watched.finish();
    }
}

/// A worker that has found a task calls the hook for that before it runs the task, when it counts
/// as running. That holds for its first task too.
#[test]
fn a_worker_that_goes_to_work_says_so() {
    thread_local! {
        static SAID: Cell<usize> = const { Cell::new(0) };
    }
    for workers in WORKERS {
        let pool = builder().workers(workers).on_work(|| SAID.set(SAID.get() + 1));
        let watched = Watched::with(pool.build().unwrap());
        let handle = watched.handle();
        for round in 0..20 {
            let (busy, pool) = (Countdown::new(workers), handle.clone());
            let counted = busy.clone();
            on_all_workers(&handle, move |context| {
                assert!(SAID.get() > round, "a worker ran its task {round} without a call of the hook");
                let worker = context.worker().unwrap();
                assert_eq!(pool.stats().workers[worker].state, WorkerState::Running);
                counted.count_down();
            });
            busy.wait();
            wait_until_all_sleep(&handle);
        }
        assert_eq!(handle.stats().workers.iter().map(|worker| worker.panics).sum::<u64>(), 0);
        watched.finish();
    }
}
