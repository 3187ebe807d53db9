//! A worker without tasks: where it finds some, from which workers it steals, and when it naps.

use std::time::Instant;

use super::super::Worker;
use super::super::find::{Round, Sight};
use super::support::{idle_task, workers};
use crate::clock::SYSTEM;
use crate::idle::{Patience, Spin, SpinBudget, Verdict};
use crate::strategy::Strategy;

/// Returns a worker that has nothing to do, and another one of its group.
fn pair() -> (Worker, Worker) {
    let mut workers = workers(Strategy::Local, 2);
    let victim = workers.pop().unwrap();
    (workers.pop().unwrap(), victim)
}

#[test]
fn a_round_finds_what_the_worker_itself_has() {
    let (worker, _) = pair();
    assert!(matches!(worker.round(), Round::Nothing));
    worker.core.push(idle_task());
    assert!(matches!(worker.round(), Round::Task(_)), "a ready task");
    worker.core.handle().post(idle_task()).expect("the worker is there");
    assert!(matches!(worker.round(), Round::Task(_)), "a task that has arrived");
    worker.deque.push(idle_task());
    assert!(matches!(worker.round(), Round::Task(_)), "a task of its deque");
    assert!(matches!(worker.round(), Round::Nothing));
}

#[test]
fn a_worker_that_lies_down_sees_its_own_and_others_tasks() {
    let (worker, victim) = pair();
    assert!(matches!(worker.sight(), Sight::Nothing));
    worker.core.push(idle_task());
    assert!(matches!(worker.sight(), Sight::Work), "a ready task");
    drop(worker.core.pop());
    // A worker does not spare a lone task of its own.
    worker.deque.push(idle_task());
    assert!(matches!(worker.sight(), Sight::Work), "a task of its deque");
    drop(worker.deque.pop());
    worker.core.handle().post(idle_task()).expect("the worker is there");
    assert!(matches!(worker.sight(), Sight::Work), "a task that has arrived");
    worker.core.receive();
    drop(worker.core.pop());
    victim.deque.push(idle_task());
    assert!(matches!(worker.sight(), Sight::Lone), "another worker's only task");
    victim.deque.push(idle_task());
    assert!(matches!(worker.sight(), Sight::Work), "there is one to take");
}

/// Without a nap, the searcher would spin until it may take the task.
#[test]
fn a_searcher_naps_once_its_time_is_over_while_it_spares_a_task() {
    let (worker, victim) = pair();
    victim.deque.push(idle_task());
    assert!(matches!(worker.search(&mut Spin::spent()), Round::Task(_)));
    let stats = worker.core.stats();
    assert!(stats.naps > 0 && stats.sleeps == 0, "{stats:?}");
}

#[test]
fn a_worker_that_lies_down_naps_only_if_its_time_is_over_and_it_spares_a_task() {
    let naps = |is_lone: bool, mut spin: Spin| {
        let (worker, victim) = pair();
        (0..if is_lone { 1 } else { 2 }).for_each(|_| victim.deque.push(idle_task()));
        let searching = worker.lie_down(None, &mut spin);
        assert!(searching.is_some(), "there is something");
        let stats = worker.core.stats();
        assert_eq!(stats.sleeps, 0, "{stats:?}");
        stats.naps
    };
    assert_eq!(naps(true, Spin::spent()), 1);
    assert_eq!(naps(true, SpinBudget::new().start(SYSTEM)), 0, "it searches on");
    assert_eq!(naps(false, Spin::spent()), 0, "there is one to take");
}

#[test]
fn an_empty_deque_is_not_tried() {
    let (worker, victim) = pair();
    assert!(matches!(worker.steal(), Round::Nothing));
    assert_eq!(worker.core.stats().steals_tried, 0);
    (0..2).for_each(|_| victim.deque.push(idle_task()));
    assert!(matches!(worker.steal(), Round::Task(_)));
    let stats = worker.core.stats();
    assert_eq!((stats.steals_tried, stats.steals), (1, 1));
}

/// A thief tries the worker whose lone task it watches first. If it tried another worker with a
/// lone task first, it would watch that task instead, and the time of the first one would start
/// anew.
#[test]
fn a_watched_task_is_taken_although_others_have_one_too() {
    for watched in 1..8 {
        let mut victims = workers(Strategy::Local, 8);
        let worker = victims.remove(0);
        victims.iter().for_each(|victim| victim.deque.push(idle_task()));
        let before = Instant::now().checked_sub(Patience::LIMIT).expect("the clock began earlier");
        let verdict = worker.patience.borrow_mut().look(watched, 0, before);
        assert_eq!(verdict, Verdict::SpareAtFirst);
        assert!(matches!(worker.steal(), Round::Task(_)), "a task of worker {watched}");
        assert_eq!(victims[watched - 1].deque.len(), 0, "a task of worker {watched}");
    }
}

#[test]
fn a_thief_takes_half_of_many_tasks_and_one_of_a_few() {
    for (tasks, stolen) in [(2, 1), (64, 1), (65, 33), (129, 65)] {
        let (worker, victim) = pair();
        (0..tasks).for_each(|_| victim.deque.push(idle_task()));
        assert!(matches!(worker.steal(), Round::Task(_)));
        // It runs one of them.
        assert_eq!((worker.deque.len(), victim.deque.len()), (stolen - 1, tasks - stolen), "of {tasks}");
    }
}

/// The numbers are the same in each run.
#[test]
fn thieves_begin_with_each_victim_equally_often() {
    for worker in workers(Strategy::Local, 4) {
        let mut counts = [0; 7];
        (0..7_000).for_each(|_| counts[worker.random() as usize % 7] += 1);
        assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
    }
}
