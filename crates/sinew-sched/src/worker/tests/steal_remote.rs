//! Several groups: taking work from another group, helping it and waking its workers.

use super::super::Worker;
use super::support::{STRATEGIES, idle_task, shared, worker};
use crate::strategy::Strategy;
use crate::task::Context;
use crate::task::TaskRef;

fn submit(worker: &Worker, task: TaskRef) {
    Context::of_worker(worker).submit(task);
}

/// Twelve tasks for six workers: two tasks into the deque, and one more to run.
#[test]
fn a_worker_takes_its_share_of_another_groups_queue() {
    let shared = shared(Strategy::Local, &[2, 4]);
    let (worker, other) = (worker(&shared, 0, 0), &shared.groups()[1]);
    (0..12).for_each(|_| other.queue.push(idle_task()));
    assert!(worker.take_from_queue_of(other).is_some());
    assert_eq!((worker.deque.len(), other.queue.len()), (2, 9));
}

/// A group needs help only if it has work and no worker of it is idle.
#[test]
fn a_busy_group_with_work_needs_help() {
    for strategy in STRATEGIES {
        let shared = shared(strategy, &[1, 1]);
        let [group, other] = shared.groups() else { panic!("there are two") };
        assert!(!shared.needs_help(group), "{strategy}: there is no work");
        other.idle.lie_down(0, None);
        assert!(!shared.needs_help(group), "{strategy}: there is no work");
        other.queue.push(idle_task());
        assert!(!shared.needs_help(group), "{strategy}: a worker of the other group is idle");
        assert!(other.idle.get_up(0).is_none());
        assert!(shared.needs_help(group), "{strategy}: all of the other group are busy");
        assert!(!shared.needs_help(other), "{strategy}: the work is its own");
    }
}

#[test]
fn another_group_is_called_only_if_all_of_the_own_are_busy() {
    for strategy in STRATEGIES {
        let shared = shared(strategy, &[2, 1]);
        let [group, other] = shared.groups() else { panic!("there are two") };
        let worker = worker(&shared, 0, 0);
        group.idle.lie_down(1, None);
        other.idle.lie_down(0, None);
        submit(&worker, idle_task());
        assert!(!group.idle.is_sleeping(1), "{strategy}: it is woken for the task");
        assert!(other.idle.is_sleeping(0), "{strategy}: the task is seen to");

        let searching = group.idle.get_up(1).expect("it was claimed");
        let _ = group.idle.leave(searching);
        submit(&worker, idle_task());
        assert!(!other.idle.is_sleeping(0), "{strategy}: it is woken for the task");
    }
}

/// A task may begin on one worker and end on another, so only the sum over all workers counts.
#[test]
fn tasks_that_may_end_anywhere_are_counted_over_all_workers() {
    let shared = shared(Strategy::Local, &[1, 1]);
    let [first, second] = [0, 1].map(|group| worker(&shared, group, 0));
    first.core.own_roaming();
    first.core.own_roaming();
    assert_eq!(shared.roaming(), 2);
    second.core.disown_roaming();
    assert_eq!(shared.roaming(), 1);
    second.core.disown_roaming();
    assert_eq!(shared.roaming(), 0);
}
