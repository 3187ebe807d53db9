//! Workers that block: movable tasks move, the others wait, spare workers start and end.

use super::support::{Countdown, WORKERS, Watched, block_once, builder, quiet_panic, start_thread};
use sinew_sched::{Context, Placement, TaskRef, WorkerState};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

#[test]
fn a_blocked_workers_children_run() {
    for workers in WORKERS {
        let watched = Watched::new(workers);
        let done = Countdown::new(workers);
        for worker in 0..workers {
            let done = done.clone();
            let task = TaskRef::new(move |context| {
                let children = Countdown::new(100);
                (0..100).for_each(|_| context.submit(children.task()));
                context.block(|| children.wait());
                done.count_down();
            });
            watched.handle().submit(task, Placement::Worker(worker)).unwrap();
        }
        done.wait();
        assert_eq!(watched.pool().stats().blocked, 0);
        watched.finish();
    }
}

#[test]
fn work_from_outside_runs_while_all_workers_are_blocked() {
    for workers in WORKERS {
        let watched = Watched::new(workers);
        let (begun, done) = (Countdown::new(workers), Countdown::new(workers));
        let arrived = Countdown::new(1_000);
        for worker in 0..workers {
            let (begun, done, arrived) = (begun.clone(), done.clone(), arrived.clone());
            let task = TaskRef::new(move |context| {
                context.block(|| {
                    begun.count_down();
                    arrived.wait();
                });
                done.count_down();
            });
            watched.handle().submit(task, Placement::Worker(worker)).unwrap();
        }
        begun.wait();
        assert_eq!(watched.pool().stats().blocked, workers);
        for _ in 0..1_000 {
            watched.handle().submit(arrived.task(), Placement::Anyone).unwrap();
        }
        done.wait();
        watched.finish();
    }
}

#[test]
fn what_cannot_move_waits() {
    let watched = Watched::new(1);
    let (sender, receiver) = mpsc::channel();
    let (begun, copy) = (Countdown::new(1), sender.clone());
    let flag = begun.clone();
    let (unblock, blocked) = mpsc::channel::<()>();
    let task = TaskRef::new(move |context| {
        context.block(|| {
            flag.count_down();
            blocked.recv().unwrap();
            copy.send("back").unwrap();
        });
    });
    watched.handle().submit(task, Placement::Worker(0)).unwrap();
    begun.wait();
    watched
        .handle()
        .submit(TaskRef::new(move |_| sender.send("pinned").unwrap()), Placement::Worker(0))
        .unwrap();
    // Tasks of other threads do not wait.
    let other = Countdown::new(1);
    watched.handle().submit(other.task(), Placement::Anyone).unwrap();
    other.wait();
    unblock.send(()).unwrap();
    assert_eq!(receiver.iter().collect::<Vec<_>>(), ["back", "pinned"]);
    watched.finish();
}

#[test]
fn a_spare_worker_goes_when_it_is_not_needed() {
    let watched = Watched::new(1);
    block_once(&watched.handle());
    let stats = watched.pool().stats();
    assert_eq!(stats.workers.len(), 2, "one spare worker was started: {stats:?}");
    while watched.pool().stats().workers[1].state != WorkerState::Absent {
        thread::yield_now();
    }
    // A spare worker starts again when it is needed again, in the same seat.
    block_once(&watched.handle());
    assert_eq!(watched.pool().stats().workers.len(), 2);
    watched.finish();
}

#[test]
fn a_spare_worker_is_used_again_while_it_is_there() {
    let threads = Arc::new(AtomicUsize::new(0));
    let count = threads.clone();
    let pool = builder()
        .workers(1)
        .spawn_with(move |name, body| {
            count.fetch_add(1, Ordering::Relaxed);
            start_thread(name, body)
        })
        .build()
        .unwrap();
    let watched = Watched::with(pool);
    (0..100).for_each(|_| block_once(&watched.handle()));
    watched.finish();
    assert!(threads.load(Ordering::Relaxed) < 20, "{threads:?} threads for 100 blocks");
}

#[test]
fn a_spare_worker_stays_for_what_it_has_begun() {
    let watched = Watched::new(1);
    let (begun, done) = (Countdown::new(1), Countdown::new(1));
    let (flag, copy) = (begun.clone(), done.clone());
    let task = TaskRef::new(move |context| {
        // The task begins on the spare worker, which owns it from then on.
        context.submit(TaskRef::new(move |context| {
            context.core().own();
            flag.count_down();
        }));
        context.block(|| begun.wait());
        copy.count_down();
    });
    watched.handle().submit(task, Placement::Worker(0)).unwrap();
    done.wait();
    let handle = watched.handle();
    assert_eq!(handle.stats().workers[1].owned, 1);
    let last = Countdown::new(1);
    let copy = last.clone();
    let end = TaskRef::new(move |context| {
        assert_eq!(context.worker(), Some(1));
        context.core().disown();
        copy.count_down();
    });
    handle.reschedule(end, Placement::Worker(1));
    last.wait();
    watched.finish();
}

#[test]
fn without_a_spare_worker_the_others_go_on() {
    let threads = AtomicUsize::new(0);
    let pool = builder()
        .workers(2)
        .spawn_with(move |name, body| match threads.fetch_add(1, Ordering::Relaxed) {
            0 | 1 => start_thread(name, body),
            _ => Err(io::ErrorKind::WouldBlock.into()),
        })
        .build()
        .unwrap();
    let watched = Watched::with(pool);
    block_once(&watched.handle());
    assert_eq!(watched.pool().stats().spares_failed, 1);
    watched.finish();
}

#[test]
fn a_block_inside_a_block_and_one_that_panics_end() {
    let watched = Watched::new(2);
    let handle = watched.handle();
    handle
        .submit(
            TaskRef::new(|context| context.block(|| context.block(|| quiet_panic("on purpose")))),
            Placement::Anyone,
        )
        .unwrap();
    while handle.stats().workers.iter().map(|worker| worker.panics).sum::<u64>() == 0 {
        thread::yield_now();
    }
    assert_eq!(handle.stats().blocked, 0);
    block_once(&handle);
    watched.finish();
}

#[test]
fn sections_of_several_tasks_are_counted() {
    let watched = Watched::new(1);
    let blocked = |step: fn(&Context<'_>)| {
        let done = Countdown::new(1);
        let flag = done.clone();
        let task = TaskRef::new(move |context| {
            step(context);
            flag.count_down();
        });
        watched.handle().submit(task, Placement::Worker(0)).unwrap();
        done.wait();
        watched.pool().stats().blocked
    };
    let steps: [fn(&Context<'_>); 2] = [|context| context.begin_block(), |context| context.end_block()];
    let [begin, end] = steps;
    // The last `end` has no section to end.
    let seen: Vec<_> = [begin, begin, end, end, end, begin, end].into_iter().map(blocked).collect();
    assert_eq!(seen, [1, 1, 1, 0, 0, 1, 0]);
    block_once(&watched.handle());
    watched.finish();
}

#[test]
fn a_shutdown_waits_for_a_blocked_worker() {
    let watched = Watched::new(1);
    let (unblock, blocked) = mpsc::channel::<()>();
    let begun = Countdown::new(1);
    let flag = begun.clone();
    let task = TaskRef::new(move |context| {
        context.block(|| {
            flag.count_down();
            blocked.recv().unwrap();
        });
    });
    watched.handle().submit(task, Placement::Anyone).unwrap();
    begun.wait();
    let unblocker = thread::spawn(move || unblock.send(()).unwrap());
    watched.finish();
    unblocker.join().unwrap();
}
