//! A worker that owns clearly more tasks than the mean of its group leaves new ones to the other
//! workers while one of them is idle. The workers of these tests have no threads: each test puts
//! them into the states that it needs.

use super::super::Worker;
use super::support::{STRATEGIES, shared, worker};
use crate::strategy::Strategy;
use crate::task::{List, TaskRef};

/// Returns the first worker of a group, which owns `own` tasks. The second worker owns `others`.
fn first_of(workers: usize, strategy: Strategy, own: u64, others: u64) -> Worker {
    let shared = shared(strategy, &[workers]);
    let owned = |index: usize| &shared.groups()[0].seat(index).unwrap().counters.owned;
    owned(0).add(own);
    owned(1).add(others);
    let worker = worker(&shared, 0, 0);
    worker.weigh();
    worker
}

/// Returns a worker that owns too many tasks. The other worker of its group is asleep.
fn too_many(strategy: Strategy) -> Worker {
    let worker = first_of(2, strategy, 100, 0);
    assert!(worker.overloaded.get());
    worker.group.idle.lie_down(1, None);
    worker
}

fn settler() -> TaskRef {
    TaskRef::settling(|_| ())
}

/// Too many: more than the mean by an eighth, and by more than 16.
#[test]
fn too_many_is_clearly_more_than_the_mean() {
    let is_too_many = |workers, own, others| {
        let worker = first_of(workers, Strategy::Local, own, others);
        worker.overloaded.get()
    };
    assert!(is_too_many(2, 100, 0) && is_too_many(8, 100, 0));
    // A few are never too many, nor is a few more than the mean.
    assert!(!is_too_many(2, 16, 0) && !is_too_many(32, 16, 0));
    assert!(!is_too_many(2, 30, 0));
    // Tasks of the second worker have ended more often than they have begun.
    assert!(!is_too_many(2, 16, 0_u64.wrapping_sub(100)) && !is_too_many(2, 0, 0_u64.wrapping_sub(100)));
    assert!(!is_too_many(2, 100, 100) && !is_too_many(2, 100, 1_000));
    // The mean is 1,000, and then 250.
    assert!(!is_too_many(2, 1_100, 900) && is_too_many(2, 1_200, 800));
    assert!(is_too_many(8, 1_000, 1_000));
}

/// The task goes to the group's queue, and another worker is woken for it.
#[test]
fn a_worker_with_too_many_leaves_its_own_new_tasks_to_others() {
    let worker = too_many(Strategy::Local);
    worker.deque.push(settler());
    assert!(worker.pop_own().is_none());
    assert_eq!((worker.deque.len(), worker.group.queue.len()), (0, 1));
    assert!(!worker.group.idle.is_sleeping(1), "it is woken for the task");
}

#[test]
fn a_worker_with_too_many_takes_tasks_that_do_not_settle() {
    let worker = too_many(Strategy::Local);
    worker.deque.push(TaskRef::new(|_| ()));
    assert!(worker.pop_own().is_some());
    assert!(worker.group.idle.is_sleeping(1));
}

/// The other worker owns as many by now.
#[test]
fn a_worker_looks_again_before_it_leaves_a_task() {
    let worker = too_many(Strategy::Local);
    worker.group.seat(1).unwrap().counters.owned.add(100);
    worker.deque.push(settler());
    assert!(worker.pop_own().is_some());
    assert!(!worker.overloaded.get());
}

/// In most turns it takes only tasks from its own lists; the other workers may be stuck, so it also
/// looks into the group's queue once in a while.
#[test]
fn a_busy_worker_with_too_many_takes_from_the_queue_once_in_a_while() {
    for strategy in STRATEGIES {
        let worker = too_many(strategy);
        worker.group.queue.push(settler());
        let turns = (1..=10_000).find(|_| worker.pick().is_some());
        assert!(turns.is_some_and(|turns| turns > 100), "{strategy}: {turns:?}");

        let worker = first_of(2, strategy, 100, 100);
        worker.group.queue.push(settler());
        assert!(worker.pick().is_some(), "{strategy}: it has no more than others");
    }
}

/// The task is back in the group's queue, and no other task is taken from there in exchange. So
/// another worker is woken for it.
#[test]
fn a_worker_with_too_many_leaves_a_task_that_yielded_to_others() {
    let worker = too_many(Strategy::Shared);
    worker.push_yielded(settler());
    assert!(worker.group.idle.is_sleeping(1), "no worker is woken yet");
    assert!(worker.pick().is_none());
    assert_eq!(worker.group.queue.len(), 1);
    assert!(!worker.group.idle.is_sleeping(1), "it is woken for the task");
}

/// It leaves the tasks in the group's queue to a worker that is asleep, and wakes it.
#[test]
fn an_idle_worker_with_too_many_leaves_the_queue_to_another_idle_one() {
    for strategy in STRATEGIES {
        let worker = too_many(strategy);
        let _searching = worker.group.idle.search().expect("no other worker searches");
        assert!(!worker.defers(), "{strategy}: there is nothing to leave");
        worker.group.queue.push_all(List::from(settler()));
        assert!(worker.defers(), "{strategy}");
        assert!(!worker.group.idle.is_sleeping(1), "{strategy}: it is woken for the task");
    }
}

#[test]
fn an_idle_worker_takes_from_the_queue_if_all_others_are_busy() {
    for strategy in STRATEGIES {
        // The second worker is running: it neither sleeps nor searches.
        let worker = first_of(2, strategy, 100, 0);
        let _searching = worker.group.idle.search().expect("no other worker searches");
        worker.group.queue.push(settler());
        assert!(worker.overloaded.get() && !worker.defers(), "{strategy}");
        // The second worker sleeps, but owns as many.
        let worker = first_of(2, strategy, 100, 100);
        worker.group.idle.lie_down(1, None);
        let _searching = worker.group.idle.search().expect("no other worker searches");
        worker.group.queue.push(settler());
        assert!(!worker.defers(), "{strategy}");
    }
}

/// Balance does not delay work: if the other worker does not come, the first one takes the task
/// after all.
#[test]
fn an_idle_worker_does_not_leave_the_queue_to_another_one_for_ever() {
    for strategy in STRATEGIES {
        let worker = too_many(strategy);
        let _searching = worker.group.idle.search().expect("no other worker searches");
        worker.group.queue.push(settler());
        while worker.defers() {
            std::thread::yield_now();
        }
        assert!(worker.take_shared().is_some(), "{strategy}");
    }
}
