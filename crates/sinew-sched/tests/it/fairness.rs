//! However busy one place is, workers take tasks from the others too.

use super::support::{Countdown, WORKERS, Watched};
use sinew_sched::{Context, Placement, TaskRef};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

/// Returns a task that yields again and again, until it is stopped.
pub(super) fn storm(stop: &Arc<AtomicBool>, done: &Countdown, again: fn(&Context<'_>, TaskRef)) -> TaskRef {
    let (stop, done) = (stop.clone(), done.clone());
    TaskRef::new(move |context| {
        if stop.load(Ordering::Relaxed) {
            done.count_down();
        } else {
            again(context, storm(&stop, &done, again));
        }
    })
}

/// Runs a storm of 100 tasks, and in the middle of it a task that ends it, sent by `send`.
fn a_storm_ends(workers: usize, again: fn(&Context<'_>, TaskRef), send: fn(&Watched, TaskRef)) {
    let watched = Watched::new(workers);
    let stop = Arc::new(AtomicBool::new(false));
    let done = Countdown::new(101);
    for number in 0..100 {
        let task = storm(&stop, &done, again);
        watched.handle().submit(task, Placement::Worker(number % workers)).unwrap();
    }
    let (flag, copy) = (stop.clone(), done.clone());
    let end = TaskRef::new(move |_| {
        flag.store(true, Ordering::Relaxed);
        copy.count_down();
    });
    send(&watched, end);
    done.wait();
    watched.finish();
}

pub(super) fn stay(context: &Context<'_>, task: TaskRef) {
    context.core().push(task);
}

pub(super) fn wander(context: &Context<'_>, task: TaskRef) {
    context.yield_to_others(task);
}

pub(super) fn spawn(context: &Context<'_>, task: TaskRef) {
    context.submit(task);
}

#[test]
fn no_storm_starves_the_shared_queue() {
    for workers in WORKERS {
        for again in [stay, wander, spawn] {
            a_storm_ends(workers, again, |watched, task| {
                watched.handle().submit(task, Placement::Anyone).unwrap();
            });
        }
    }
}

#[test]
fn no_storm_starves_the_inbox() {
    for workers in WORKERS {
        for again in [stay, wander, spawn] {
            a_storm_ends(workers, again, |watched, task| {
                watched.handle().submit(task, Placement::Worker(0)).unwrap();
            });
        }
    }
}

/// A task of the storm's own worker waits behind a ready list that is never empty.
#[test]
fn no_storm_starves_new_tasks_of_its_worker() {
    for again in [stay, wander, spawn] {
        a_storm_ends(1, again, |watched, task| {
            let parent = TaskRef::new(move |context| context.submit(task));
            watched.handle().submit(parent, Placement::Worker(0)).unwrap();
        });
    }
}

/// The newest task goes first, but a task that always has a new child does not keep the oldest from
/// running.
#[test]
fn a_chain_of_children_does_not_starve_an_older_one() {
    let watched = Watched::new(1);
    let (stop, done) = (Arc::new(AtomicBool::new(false)), Countdown::new(2));
    let (flag, copy) = (stop.clone(), done.clone());
    let parent = TaskRef::new(move |context| {
        let (stop, done) = (flag.clone(), copy.clone());
        context.submit(TaskRef::new(move |_| {
            stop.store(true, Ordering::Relaxed);
            done.count_down();
        }));
        context.submit(storm(&flag, &copy, spawn));
    });
    watched.handle().submit(parent, Placement::Anyone).unwrap();
    done.wait();
    watched.finish();
}

/// The thief is patient with a worker's newest child, but not for ever.
#[test]
fn a_parent_that_spins_until_its_child_has_run_ends() {
    for round in 0..20 {
        let watched = Watched::new(2);
        let done = Countdown::new(1);
        let copy = done.clone();
        let parent = TaskRef::new(move |context| {
            let ran = Arc::new(AtomicBool::new(false));
            let flag = ran.clone();
            context.submit(TaskRef::new(move |_| flag.store(true, Ordering::Release)));
            while !ran.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
            copy.count_down();
        });
        watched.handle().submit(parent, Placement::Worker(round % 2)).unwrap();
        done.wait();
        watched.finish();
    }
}

#[test]
fn a_task_that_yields_goes_behind_all_that_wait() {
    let watched = Watched::new(1);
    let (sender, receiver) = mpsc::channel();
    let task = TaskRef::new(move |context| {
        for number in 0..6 {
            let sender = sender.clone();
            context.submit(TaskRef::new(move |_| sender.send(number).unwrap()));
        }
        context.yield_to_others(TaskRef::new(move |_| sender.send(99).unwrap()));
    });
    watched.handle().submit(task, Placement::Anyone).unwrap();
    let order: Vec<_> = receiver.iter().collect();
    assert_eq!(order, [0, 1, 2, 3, 4, 5, 99]);
    watched.finish();
}
