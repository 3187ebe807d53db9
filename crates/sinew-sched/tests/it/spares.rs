//! Spare workers that cannot be started, or are started by the user's function; and the tasks that
//! they leave behind.

use super::support::{
    Countdown, WORKERS, Watched, block_once, builder, start_thread, wait_until, wait_until_all_sleep,
};
use sinew_sched::{Driver, FutexDriver, Handle, Placement, Pool, TaskRef, WorkerState};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// How a start fails.
type Failure = fn() -> io::Result<()>;

fn refuse() -> io::Result<()> {
    Err(io::ErrorKind::WouldBlock.into())
}

fn panic() -> io::Result<()> {
    // Without the panic hook, which would report each panic.
    std::panic::resume_unwind(Box::new("on purpose"))
}

/// After the starts of the workers themselves, this number of starts fails.
fn failing(workers: usize, fail: Failure) -> impl Fn() -> io::Result<()> + Send + Sync {
    let starts = AtomicUsize::new(0);
    move || {
        let is_to_fail = (workers..2 * workers).contains(&starts.fetch_add(1, Ordering::Relaxed));
        if is_to_fail { fail() } else { Ok(()) }
    }
}

fn pool_with_failing_threads(workers: usize, fail: Failure) -> Pool {
    let may_start = failing(workers, fail);
    let spawn = move |name, body| may_start().and_then(|()| start_thread(name, body));
    builder().workers(workers).spawn_with(spawn).build().unwrap()
}

fn pool_with_failing_drivers(workers: usize, fail: Failure) -> Pool {
    let may_start = failing(workers, fail);
    let make = move |_| may_start().map(|()| Box::new(FutexDriver::default()) as Box<dyn Driver>);
    builder().workers(workers).driver(make).build().unwrap()
}

/// Makes all workers block until `body` has returned.
fn while_all_block(watched: &Watched, body: impl FnOnce()) {
    let workers = watched.pool().workers();
    let (begun, gate, done) = (Countdown::new(workers), Countdown::new(1), Countdown::new(workers));
    for worker in 0..workers {
        let (begun, gate, done) = (begun.clone(), gate.clone(), done.clone());
        let task = TaskRef::new(move |context| {
            context.block(|| {
                begun.count_down();
                gate.wait();
            });
            done.count_down();
        });
        watched.handle().submit(task, Placement::Worker(worker)).unwrap();
    }
    begun.wait();
    assert_eq!(watched.pool().stats().blocked, workers);
    body();
    gate.count_down();
    done.wait();
    assert_eq!(watched.pool().stats().blocked, 0);
}

/// A failure lasts for one block: what blocks runs all the same, and the next block asks for a
/// spare worker again.
#[test]
fn a_spare_worker_that_was_not_to_be_had_is_asked_for_again() {
    for workers in WORKERS {
        for build in [pool_with_failing_threads, pool_with_failing_drivers] {
            for fail in [refuse, panic] {
                let watched = Watched::with(build(workers, fail));
                while_all_block(&watched, || {});
                assert_eq!(watched.pool().stats().spares_failed, workers as u64);
                while_all_block(&watched, || {
                    let done = Countdown::new(100);
                    for _ in 0..100 {
                        watched.handle().submit(done.task(), Placement::Anyone).unwrap();
                    }
                    done.wait();
                });
                let stats = watched.pool().stats();
                assert!(stats.workers.iter().all(|worker| worker.panics == 0), "{stats:?}");
                watched.finish();
            }
        }
    }
}

/// A spare worker is started without a lock that the user's code might take.
#[test]
fn a_starter_of_spare_workers_may_use_the_pool() {
    let handle: Arc<Mutex<Option<Handle>>> = Arc::default();
    let seen = Arc::new(AtomicUsize::new(0));
    let ask = || {
        let (handle, seen) = (handle.clone(), seen.clone());
        move || {
            if let Some(handle) = &*handle.lock().unwrap() {
                seen.fetch_add(handle.stats().blocked, Ordering::Relaxed);
            }
        }
    };
    let (asks_first, asks_then) = (ask(), ask());
    let pool = builder()
        .workers(1)
        .driver(move |_| {
            asks_first();
            Ok(Box::new(FutexDriver::default()))
        })
        .spawn_with(move |name, body| {
            asks_then();
            start_thread(name, body)
        });
    let watched = Watched::with(pool.build().unwrap());
    *handle.lock().unwrap() = Some(watched.handle());
    block_once(&watched.handle());
    assert_eq!(seen.load(Ordering::Relaxed), 2, "both saw the worker that blocks");
    // The pool has the starters, and they had a handle of the pool.
    *handle.lock().unwrap() = None;
    watched.finish();
}

#[test]
fn what_is_sent_to_a_spare_worker_that_has_left_runs() {
    let watched = Watched::new(1);
    let handle = watched.handle();
    block_once(&handle);
    wait_until(|| handle.stats().workers[1].state == WorkerState::Absent);
    let done = Countdown::new(2);
    handle.reschedule(done.task(), Placement::Worker(1));
    let (copy, task) = (handle.clone(), done.task());
    let sender = TaskRef::new(move |_| copy.reschedule(task, Placement::Worker(1)));
    handle.submit(sender, Placement::Worker(0)).unwrap();
    done.wait();
    watched.finish();
}

#[test]
fn what_a_spare_worker_is_left_with_when_it_goes_runs() {
    let (leaving, gate, done) = (Countdown::new(1), Countdown::new(1), Countdown::new(4));
    let (left, opened, left_behind) = (leaving.clone(), gate.clone(), done.clone());
    let pool = builder().workers(1).on_stop(move |context| {
        if context.worker() == Some(1) {
            context.core().push(left_behind.task());
            context.submit(left_behind.task());
            context.yield_to_others(left_behind.task());
            left.count_down();
            opened.wait();
        }
    });
    let watched = Watched::with(pool.build().unwrap());
    block_once(&watched.handle());
    leaving.wait();
    watched.handle().reschedule(done.task(), Placement::Worker(1));
    gate.count_down();
    done.wait();
    watched.finish();
}

/// There is no spare worker, and the only worker that could help sleeps: until the block, no worker
/// is woken for a task that yielded.
#[test]
fn a_worker_that_blocks_tells_others_of_what_it_leaves_to_them() {
    for workers in [2, 8, 64] {
        let starts = AtomicUsize::new(0);
        let pool = builder().workers(workers).spawn_with(move |name, body| {
            if starts.fetch_add(1, Ordering::Relaxed) < workers { start_thread(name, body) } else { refuse() }
        });
        let watched = Watched::with(pool.build().unwrap());
        let handle = watched.handle();
        wait_until_all_sleep(&handle);
        let done = Countdown::new(1);
        let copy = done.clone();
        let task = TaskRef::new(move |context| {
            let other = Countdown::new(1);
            context.yield_to_others(other.task());
            context.block(|| other.wait());
            copy.count_down();
        });
        handle.submit(task, Placement::Worker(0)).unwrap();
        done.wait();
        watched.finish();
    }
}

/// The user's function takes the thread's body, returns `Ok`, and drops it: the next block has a
/// spare worker.
#[test]
fn a_spare_worker_that_was_given_up_is_started_again() {
    let starts = AtomicUsize::new(0);
    let spawn = move |name, body| match starts.fetch_add(1, Ordering::Relaxed) {
        1 => {
            drop::<Box<dyn FnOnce() + Send>>(body);
            Ok(())
        }
        _ => start_thread(name, body),
    };
    let watched = Watched::with(builder().workers(1).spawn_with(spawn).build().unwrap());
    while_all_block(&watched, || {});
    block_once(&watched.handle());
    watched.finish();
}

/// The thread runs although its start returned an error: the worker stays for the tasks that it has
/// begun.
#[test]
fn a_spare_worker_whose_start_failed_after_all_is_one_as_any_other() {
    let starts = AtomicUsize::new(0);
    let spawn = move |name, body| {
        start_thread(name, body)?;
        if starts.fetch_add(1, Ordering::Relaxed) == 1 { refuse() } else { Ok(()) }
    };
    let watched = Watched::with(builder().workers(1).spawn_with(spawn).build().unwrap());
    let handle = watched.handle();
    while_all_block(&watched, || {
        let done = Countdown::new(1);
        let copy = done.clone();
        let begin = TaskRef::new(move |context| {
            context.core().own();
            copy.count_down();
        });
        handle.submit(begin, Placement::Anyone).unwrap();
        done.wait();
        wait_until(|| handle.stats().workers[1].state != WorkerState::Running);
    });
    let done = Countdown::new(1);
    let copy = done.clone();
    let end = TaskRef::new(move |context| {
        context.core().disown();
        copy.count_down();
    });
    handle.reschedule(end, Placement::Worker(1));
    done.wait();
    assert_eq!(watched.pool().stats().spares_failed, 1);
    watched.finish();
}
