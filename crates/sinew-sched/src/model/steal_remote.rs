//! Two groups, one of which takes work from the other when all workers there are busy: no worker
//! sleeps through that work either.
//!
//! As in the model of one group, workers do what real ones do, without the spinning. Each group has
//! one worker; the work is the first group's.

use std::sync::Arc;

use loom::sync::Notify;
use loom::thread;

use super::inbox::Parker;
use super::relied::{BEGINS, Begin};
use super::{Taken, check, fails_without};
use crate::idle::{Coverage, Idle, Searching};
use crate::queue::twin::ArrayQueue;
use crate::sync::{Fence, full_fence};

struct Two {
    idle: [Idle; 2],
    queue: ArrayQueue,
    parkers: [Parker; 2],
    taken: Taken,
    /// Notified when a worker has taken the last task.
    last: Notify,
}

impl Two {
    fn new(tasks: usize) -> Arc<Self> {
        let (idle, parkers) = ([0, 1].map(|_| Idle::new(1)), [0, 1].map(|_| Parker::new()));
        let (queue, taken) = (ArrayQueue::new(tasks), Taken::new(tasks));
        let two = Arc::new(Self { idle, queue, parkers, taken, last: Notify::new() });
        // Leaked: a task that is left when a model fails must not be dropped outside of it.
        std::mem::forget(two.clone());
        two
    }

    fn submit(&self, number: usize) {
        self.queue.push(self.taken.task(number)).unwrap();
        full_fence(Fence::Announce);
        self.announce();
    }

    /// Announces work to the first group; to the second, if all workers of the first are busy.
    fn announce(&self) {
        for group in 0..2 {
            let tell = |_| self.parkers[group].deliver(self.parkers[group].inbox.tell());
            if self.idle[group].work_arrived(1, || !self.queue.is_empty(), tell) == Coverage::Covered {
                return;
            }
        }
    }

    fn leave(&self, group: usize, evidence: Searching) {
        if self.idle[group].leave(evidence) && !self.queue.is_empty() {
            self.announce();
        }
    }

    /// Returns whether a worker that has lain down has to get up.
    fn sees_work(&self, group: usize) -> bool {
        // A worker of the second group leaves the work to an idle worker of the first, if there is
        // one.
        !self.queue.is_empty() && (group == 0 || !self.idle[0].has_any())
    }

    /// Takes a task, if there is one for this worker; else lies down and searches again.
    fn work(&self, group: usize) {
        let mut searching = self.idle[group].search();
        while self.taken.total() < self.taken.len() {
            if let Some(task) = self.queue.pop() {
                searching.take().into_iter().for_each(|evidence| self.leave(group, evidence));
                drop(task);
                if self.taken.total() == self.taken.len() {
                    self.last.notify();
                    break;
                }
                // The worker is busy until another one has taken the last task.
                return self.last.wait();
            }
            self.idle[group].lie_down(0, searching.take());
            if !self.sees_work(group) && self.taken.total() < self.taken.len() {
                self.parkers[group].sleep();
                drop(self.parkers[group].inbox.take());
                searching = self.idle[group].get_up(0);
            } else {
                let claimed = self.idle[group].get_up(0);
                searching = Some(claimed.unwrap_or_else(|| self.idle[group].search_anyway()));
            }
            searching = searching.or_else(|| self.idle[group].search());
        }
        searching.into_iter().for_each(|evidence| self.leave(group, evidence));
        self.parkers.iter().for_each(|parker| parker.deliver(parker.inbox.tell()));
    }
}

/// The only worker of the first group makes a task, and is busy until the second group has taken
/// it.
fn busy_producer() {
    let two = Two::new(1);
    let other = two.clone();
    let helper = thread::spawn(move || other.work(1));
    two.submit(0);
    two.last.wait();
    helper.join().unwrap();
    two.taken.assert_each_once();
}

/// The worker of the first group, on which the producer may have relied for both tasks, is busy
/// with one until the second group has taken the other.
fn busy_searcher() {
    let two = Two::new(2);
    let workers = [0, 1].map(|group| {
        let two = two.clone();
        thread::spawn(move || two.work(group))
    });
    two.submit(0);
    two.submit(1);
    for worker in workers {
        worker.join().unwrap();
    }
    two.taken.assert_each_once();
}

/// A task waits in the first group, whose worker was sent another one and leaves. The worker of the
/// second group lies down. If it sees the first worker search, it leaves the task to it, and then
/// has to be claimed.
fn busy_neighbour(begin: Begin) {
    let two = Two::new(1);
    two.queue.push(two.taken.task(0)).unwrap();
    let begun = begin.begin(&two.idle[0], 0);
    let searcher = {
        let two = two.clone();
        thread::spawn(move || {
            let evidence = begun.or_else(|| two.idle[0].get_up(0)).expect("it was claimed");
            two.leave(0, evidence);
        })
    };
    two.idle[1].lie_down(0, None);
    let gets_up = two.sees_work(1);
    searcher.join().unwrap();
    assert!(gets_up || !two.idle[1].is_sleeping(0), "it sleeps, and a task waits");
    drop(two.queue.pop().expect("no worker took it"));
    two.taken.assert_each_once();
}

#[test]
fn what_a_busy_worker_makes_is_taken_by_another_group() {
    check(3, busy_producer);
}

#[test]
fn what_was_left_to_a_searcher_is_taken_by_another_group() {
    check(1, busy_searcher);
    for begin in BEGINS {
        check(4, move || busy_neighbour(begin));
    }
}

#[test]
fn it_fails_without_the_producers_fence() {
    assert!(fails_without(Fence::Announce, 3, busy_producer));
}

#[test]
fn it_fails_without_the_sleepers_fence() {
    assert!(fails_without(Fence::LieDown, 3, busy_producer));
    for begin in BEGINS {
        let fails = fails_without(Fence::LieDown, 4, move || busy_neighbour(begin));
        assert!(fails, "{begin:?}");
    }
}

#[test]
fn it_fails_without_the_searchers_fence() {
    for begin in BEGINS {
        let fails = fails_without(Fence::Leave, 4, move || busy_neighbour(begin));
        assert!(fails, "{begin:?}");
    }
}
