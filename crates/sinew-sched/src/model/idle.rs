//! The idle protocol: no worker sleeps through work that any worker may take, with two producers
//! and two workers.
//!
//! A worker here does what a real one does when it has nothing to run, in the same order and with
//! the same calls, without the spinning: it searches (one round), leaves or lies down, looks again,
//! sleeps, gets up.

use loom::sync::{Arc, Notify};
use loom::thread;

use super::inbox::Parker;
use super::{Taken, check, fails_without};
use crate::idle::{Idle, Searching};
use crate::queue::deque::{Steal, deque};
use crate::queue::twin::ArrayQueue;
use crate::sync::{Fence, full_fence};
use crate::task::TaskRef;

/// The workers' numbers, so far apart that they are not in the same half of a word.
const NUMBERS: [usize; 2] = [1, 33];

/// Tells the worker of this number, if there is one.
fn tell(parkers: &[Parker; 2], number: usize) {
    if let Some(index) = NUMBERS.iter().position(|it| *it == number) {
        parkers[index].deliver(parkers[index].inbox.tell());
    }
}

struct Group {
    idle: Idle,
    queue: ArrayQueue,
    parkers: [Parker; 2],
    taken: Taken,
    /// Notified when a worker has taken the second task.
    second: Notify,
}

impl Group {
    fn new(tasks: usize) -> Arc<Self> {
        let parkers = [Parker::new(), Parker::new()];
        let (queue, taken) = (ArrayQueue::new(tasks), Taken::new(tasks));
        Arc::new(Self { idle: Idle::new(2), queue, parkers, taken, second: Notify::new() })
    }

    fn submit(&self, task: TaskRef) {
        self.queue.push(task).unwrap();
        full_fence(Fence::Announce);
        self.announce();
    }

    fn announce(&self) {
        let _ = self.idle.work_arrived(1, || !self.queue.is_empty(), |worker| tell(&self.parkers, worker));
    }

    /// Runs tasks until all are done, then tells the other worker.
    fn work(&self, index: usize, all: usize) {
        let mut searching = self.idle.search();
        while self.taken.total() < all {
            if let Some(task) = self.queue.pop() {
                if let Some(evidence) = searching.take() {
                    self.leave(index, evidence);
                }
                drop(task);
                self.meet(all);
                continue;
            }
            searching = self.lie_down(index, searching, all).or_else(|| self.idle.search());
        }
        if let Some(evidence) = searching {
            self.leave(index, evidence);
        }
        self.parkers.iter().for_each(|parker| parker.deliver(parker.inbox.tell()));
    }

    /// Of two tasks, the first needs the second: its worker runs until the other worker has taken
    /// the second.
    fn meet(&self, all: usize) {
        match (all, self.taken.total()) {
            (2, 1) => self.second.wait(),
            (2, _) => self.second.notify(),
            _ => {}
        }
    }

    fn leave(&self, index: usize, evidence: Searching) {
        if self.idle.leave(evidence) {
            self.announce();
        }
    }

    fn lie_down(&self, index: usize, searching: Option<Searching>, all: usize) -> Option<Searching> {
        self.idle.lie_down(NUMBERS[index], searching);
        if self.queue.is_empty() && self.taken.total() < all {
            self.parkers[index].sleep();
            drop(self.parkers[index].inbox.take());
            return self.idle.get_up(NUMBERS[index]);
        }
        let claimed = self.idle.get_up(NUMBERS[index]);
        Some(claimed.unwrap_or_else(|| self.idle.search_anyway()))
    }
}

/// This number of producers, with a task each, and this number of workers.
fn produce(tasks: usize, workers: usize) {
    let group = Group::new(tasks);
    let producer = |number| {
        let (group, task) = (group.clone(), group.taken.task(number));
        thread::spawn(move || group.submit(task))
    };
    let worker = |index| {
        let group = group.clone();
        thread::spawn(move || group.work(index, tasks))
    };
    let threads: Vec<_> = (0..tasks).map(producer).chain((1..workers).map(worker)).collect();
    group.work(0, tasks);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    group.taken.assert_each_once();
}

/// A worker takes two tasks from the queue, keeps one, and puts the other into its deque. The first
/// task needs the second: it runs until another worker has taken that. On its way to the deque, the
/// second task is in neither place.
fn take_two() {
    let group = Group::new(2);
    let (owner, thief) = deque();
    let thief = Arc::new(thief);
    for number in 0..2 {
        group.queue.push(group.taken.task(number)).unwrap();
    }
    let other = {
        let (group, thief) = (group.clone(), thief.clone());
        thread::spawn(move || {
            // The second task may be on its way while this worker lies down.
            let is_there = || !group.queue.is_empty() || thief.len() != 0;
            let mut searching = None;
            loop {
                if let Steal::Task(task) = thief.steal() {
                    drop(task);
                    break;
                }
                if let Some(task) = group.queue.pop() {
                    // This worker was faster than the other one, which then has no second task.
                    drop(task);
                    break;
                }
                group.idle.lie_down(NUMBERS[1], searching.take());
                if !is_there() {
                    group.parkers[1].sleep();
                    drop(group.parkers[1].inbox.take());
                }
                let claimed = group.idle.get_up(NUMBERS[1]);
                searching = Some(claimed.unwrap_or_else(|| group.idle.search_anyway()));
            }
            if let Some(evidence) = searching {
                let _ = group.idle.leave(evidence);
            }
            group.second.notify();
        })
    };
    let first = group.queue.pop();
    if let Some(second) = group.queue.pop() {
        owner.push(second);
        full_fence(Fence::Announce);
        let _ = group.idle.work_arrived(1, || thief.len() != 0, |worker| tell(&group.parkers, worker));
    }
    drop(first);
    group.second.wait();
    other.join().unwrap();
    while let Some(task) = owner.pop() {
        drop(task);
    }
    while let Some(task) = group.queue.pop() {
        drop(task);
    }
    group.taken.assert_each_once();
}

#[test]
fn a_task_on_its_way_is_not_slept_through() {
    check(2, take_two);
}

#[test]
fn one_worker_sleeps_through_nothing() {
    check(3, move || produce(1, 1));
}

#[test]
fn two_workers_sleep_through_nothing() {
    // The largest bounds that end within a minute: one more takes a hundred times as long.
    check(1, move || produce(1, 2));
    check(0, move || produce(2, 2));
}

#[test]
fn it_fails_without_the_producers_fence() {
    assert!(fails_without(Fence::Announce, 3, move || produce(1, 1)));
}

#[test]
fn it_fails_without_the_sleepers_fence() {
    assert!(fails_without(Fence::LieDown, 3, move || produce(1, 1)));
}
