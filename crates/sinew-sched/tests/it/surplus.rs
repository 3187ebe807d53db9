//! A spare worker that is not needed any more: it notices, hands its tasks over, takes nothing new,
//! and ends.

use super::fairness::{storm, wander};
use super::support::{Countdown, Watched, occupy, wait_until};
use sinew_sched::{Placement, TaskRef, WorkerState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

/// Makes the only worker submit tasks, and block until `is_there` returns true.
fn block_until(watched: &Watched, tasks: Vec<TaskRef>, is_there: impl Fn() -> bool + Send + 'static) {
    let done = Countdown::new(1);
    let copy = done.clone();
    let task = TaskRef::new(move |context| {
        tasks.into_iter().for_each(|task| context.submit(task));
        context.block(|| wait_until(is_there));
        copy.count_down();
    });
    watched.handle().submit(task, Placement::Worker(0)).unwrap();
    done.wait();
}

#[test]
fn a_surplus_worker_is_told_when_it_sleeps() {
    let watched = Watched::new(1);
    let handle = watched.handle();
    let state = move || handle.stats().workers.get(1).map(|worker| worker.state);
    let spare = state.clone();
    block_until(&watched, vec![], move || spare() == Some(WorkerState::Sleeping));
    wait_until(|| state() == Some(WorkerState::Absent));
    watched.finish();
}

/// However many tasks it has: those that may run elsewhere do.
#[test]
fn a_surplus_worker_hands_its_tasks_on_and_goes() {
    let watched = Watched::new(1);
    let handle = watched.handle();
    let (stop, done) = (Arc::new(AtomicBool::new(false)), Countdown::new(8));
    let storms = (0..8).map(|_| storm(&stop, &done, wander)).collect();
    let copy = handle.clone();
    block_until(&watched, storms, move || copy.stats().workers.get(1).is_some_and(|spare| spare.tasks > 0));
    wait_until(|| handle.stats().workers[1].state == WorkerState::Absent);
    stop.store(true, Ordering::Relaxed);
    done.wait();
    watched.finish();
}

/// It stays for the tasks that it has begun; other tasks wait for a worker that stays.
#[test]
fn a_surplus_worker_takes_nothing_new() {
    let watched = Watched::new(1);
    let handle = watched.handle();
    let begin = TaskRef::new(|context| context.core().own());
    let copy = handle.clone();
    block_until(&watched, vec![begin], move || {
        copy.stats().workers.get(1).is_some_and(|spare| spare.owned == 1)
    });
    let gate = occupy(&handle, 0);
    let (sender, receiver) = mpsc::channel();
    let task = TaskRef::new(move |context| sender.send(context.worker()).unwrap());
    handle.submit(task, Placement::Anyone).unwrap();
    // It runs a task of its own meanwhile, and then looks for the next.
    let tasks = handle.stats().workers[1].tasks;
    handle.reschedule(TaskRef::new(|_| {}), Placement::Worker(1));
    wait_until(|| {
        let spare = handle.stats().workers[1];
        spare.tasks > tasks && spare.state == WorkerState::Sleeping
    });
    gate.count_down();
    assert_eq!(receiver.recv(), Ok(Some(0)));
    handle.reschedule(TaskRef::new(|context| context.core().disown()), Placement::Worker(1));
    watched.finish();
}

/// Returns a task that goes to the end of its core's until it is stopped.
fn stay_busy(stop: Arc<AtomicBool>) -> TaskRef {
    TaskRef::new(move |context| {
        if stop.load(Ordering::Relaxed) {
            context.core().disown();
        } else {
            context.core().push(stay_busy(stop));
        }
    })
}

/// However busy it is with the tasks that it has begun, tasks that are sent to it have their turn.
#[test]
fn a_surplus_worker_takes_what_arrives_however_busy_it_is() {
    let watched = Watched::new(1);
    let handle = watched.handle();
    let stop = Arc::new(AtomicBool::new(false));
    let copy = stop.clone();
    let begin = TaskRef::new(move |context| {
        context.core().own();
        context.core().push(stay_busy(copy));
    });
    let spare = handle.clone();
    block_until(&watched, vec![begin], move || {
        spare.stats().workers.get(1).is_some_and(|spare| spare.owned == 1)
    });
    let done = Countdown::new(1);
    handle.reschedule(done.task(), Placement::Worker(1));
    done.wait();
    stop.store(true, Ordering::Relaxed);
    watched.finish();
}
