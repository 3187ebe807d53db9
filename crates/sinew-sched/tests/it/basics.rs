//! Tasks run where they were sent, and report it.

use super::support::{Countdown, WORKERS, Watched, builder, strategy};
use sinew_sched::{Placement, Strategy, TaskRef, WorkerState};
use std::collections::HashSet;
use std::sync::mpsc;
use std::thread;

#[test]
fn every_task_runs() {
    for workers in WORKERS {
        let watched = Watched::new(workers);
        let done = Countdown::new(1_000);
        for _ in 0..1_000 {
            watched.handle().submit(done.task(), Placement::Anyone).unwrap();
        }
        done.wait();
        watched.finish();
    }
}

#[test]
fn a_batch_runs() {
    for workers in WORKERS {
        for size in [0, 1, 31, 32, 5_000] {
            let watched = Watched::new(workers);
            let done = Countdown::new(size);
            watched.handle().submit_batch((0..size).map(|_| done.task()), Placement::Anyone).unwrap();
            done.wait();
            watched.finish();
        }
    }
}

#[test]
fn a_batch_submitted_by_a_task_runs() {
    for workers in WORKERS {
        let watched = Watched::new(workers);
        let done = Countdown::new(5_000);
        let (handle, copy) = (watched.handle(), done.clone());
        let batch = TaskRef::new(move |_| {
            handle.submit_batch((0..5_000).map(|_| copy.task()), Placement::Anyone).unwrap();
        });
        watched.handle().submit(batch, Placement::Anyone).unwrap();
        done.wait();
        watched.finish();
    }
}

#[test]
fn a_task_runs_on_the_worker_it_was_sent_to() {
    for workers in WORKERS {
        let watched = Watched::new(workers);
        let (sender, receiver) = mpsc::channel();
        for worker in 0..workers {
            let sender = sender.clone();
            let task = TaskRef::new(move |context| sender.send((worker, context.worker())).unwrap());
            watched.handle().submit(task, Placement::Worker(worker)).unwrap();
        }
        for _ in 0..workers {
            let (meant, met) = receiver.recv().unwrap();
            assert_eq!(met, Some(meant));
        }
        watched.finish();
    }
}

#[test]
fn a_task_sent_by_another_worker_arrives() {
    let watched = Watched::new(2);
    let (sender, receiver) = mpsc::channel();
    let handle = watched.handle();
    let first = TaskRef::new(move |_| {
        let second = TaskRef::new(move |context| sender.send(context.worker()).unwrap());
        handle.submit(second, Placement::Worker(1)).unwrap();
    });
    watched.handle().submit(first, Placement::Worker(0)).unwrap();
    assert_eq!(receiver.recv(), Ok(Some(1)));
    watched.finish();
}

#[test]
fn tasks_sent_to_one_worker_keep_their_order() {
    let watched = Watched::new(2);
    let (sender, receiver) = mpsc::channel();
    for number in 0..1_000 {
        let sender = sender.clone();
        let task = TaskRef::new(move |_| sender.send(number).unwrap());
        watched.handle().submit(task, Placement::Worker(1)).unwrap();
    }
    drop(sender);
    assert!(receiver.iter().eq(0..1_000));
    watched.finish();
}

#[test]
fn children_run_newest_first_on_one_worker_or_in_order() {
    let watched = Watched::new(1);
    let (sender, receiver) = mpsc::channel();
    let parent = TaskRef::new(move |context| {
        // Fewer tasks than turns until the oldest goes first.
        for number in 0..5 {
            let sender = sender.clone();
            context.submit(TaskRef::new(move |_| sender.send(number).unwrap()));
        }
    });
    watched.handle().submit(parent, Placement::Anyone).unwrap();
    let order: Vec<_> = receiver.iter().collect();
    match strategy() {
        Strategy::Shared => assert_eq!(order, [0, 1, 2, 3, 4]),
        _ => {
            let inversions = order.windows(2).filter(|pair| pair[0] < pair[1]).count();
            assert!(inversions <= 1, "newest first, but for one turn of the oldest: {order:?}");
        }
    }
    watched.finish();
}

#[test]
fn threads_have_names_and_hooks_are_called() {
    let (sender, receiver) = mpsc::channel();
    let note = |event: &'static str| {
        let sender = std::sync::Mutex::new(sender.clone());
        move |context: &sinew_sched::Context<'_>| {
            let name = thread::current().name().unwrap().to_owned();
            let _ = sender.lock().unwrap().send((event, context.worker(), name));
        }
    };
    let builder = builder().workers(2).name("weft");
    let starts = note("start");
    let builder = builder.on_start(move |context| {
        starts(context);
        Ok(())
    });
    let pool = builder.on_stop(note("stop")).before_sleep(note("sleep")).build().unwrap();
    drop(sender);
    while pool.stats().workers.iter().any(|worker| worker.sleeps == 0) {
        thread::yield_now();
    }
    assert!(pool.shutdown(None).drained);
    let events: HashSet<_> = receiver.iter().collect();
    for event in ["start", "sleep", "stop"] {
        for worker in 0..2 {
            let expected = (event, Some(worker), format!("weft-{worker}"));
            assert!(events.contains(&expected), "{expected:?} in {events:?}");
        }
    }
}

#[test]
fn stats_count_tasks_and_tell_what_workers_do() {
    let watched = Watched::new(2);
    let done = Countdown::new(100);
    for _ in 0..100 {
        watched.handle().submit(done.task(), Placement::Anyone).unwrap();
    }
    done.wait();
    let (sender, receiver) = mpsc::channel();
    let handle = watched.handle();
    let task = TaskRef::new(move |context| {
        let stats = handle.stats();
        sender.send(stats.workers[context.worker().unwrap()].state).unwrap();
    });
    watched.handle().submit(task, Placement::Anyone).unwrap();
    assert_eq!(receiver.recv(), Ok(WorkerState::Running));
    let handle = watched.handle();
    watched.finish();
    let stats = handle.stats();
    assert_eq!(stats.tasks(), 101);
    assert_eq!(stats.submitted_outside, 101);
    assert!(stats.workers.iter().all(|worker| worker.state == WorkerState::Absent), "{stats:?}");
}
