//! A searcher that producers relied on, and that leaves with other work: it wakes another worker
//! for theirs.
//!
//! The smallest case that shows it, without a loop: the searcher has been sent a task and leaves,
//! another task arrives in the queue meanwhile, and a second worker sleeps all the time. In the
//! end, the sleeper has to be claimed for that task in every case.

use loom::sync::Arc;
use loom::thread;

use super::inbox::Parker;
use super::{Taken, check, fails_without};
use crate::idle::{Idle, Searching};
use crate::queue::twin::ArrayQueue;
use crate::sync::{Fence, full_fence};
use crate::task::TaskRef;

const SEARCHER: usize = 1;
const SLEEPER: usize = 2;
/// A second sleeper, which is claimed only after the first.
const LAST: usize = 3;

/// How the searcher began to search.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begin {
    /// By itself: it searches already.
    Search,
    /// It was claimed in its sleep, and gets up.
    GetUp,
}

impl Begin {
    /// Makes a worker search. A worker that still has to get up has no evidence yet.
    pub(super) fn begin(self, idle: &Idle, worker: usize) -> Option<Searching> {
        match self {
            Self::Search => idle.search(),
            Self::GetUp => {
                idle.lie_down(worker, None);
                assert_eq!(idle.claim(1, |_| {}), 1, "it sleeps");
                None
            }
        }
    }
}

pub(super) const BEGINS: [Begin; 2] = [Begin::Search, Begin::GetUp];

struct Group {
    idle: Idle,
    queue: ArrayQueue,
    /// Where the sleeper sleeps.
    parker: Parker,
}

impl Group {
    /// Returns a group with the searcher and the sleeper.
    fn new(begin: Begin, tasks: usize) -> (Arc<Self>, Option<Searching>) {
        let (idle, queue) = (Idle::new(3), ArrayQueue::new(tasks));
        let begun = begin.begin(&idle, SEARCHER);
        idle.lie_down(SLEEPER, None);
        (Arc::new(Self { idle, queue, parker: Parker::new() }), begun)
    }

    fn submit(&self, task: TaskRef) {
        self.queue.push(task).unwrap();
        full_fence(Fence::Announce);
        self.announce();
    }

    fn announce(&self) {
        let tell = |worker| {
            if worker == SLEEPER {
                self.parker.deliver(self.parker.inbox.tell());
            }
        };
        let _ = self.idle.work_arrived(1, || !self.queue.is_empty(), tell);
    }

    fn leave(&self, worker: usize, begun: Option<Searching>) {
        let evidence = begun.or_else(|| self.idle.get_up(worker)).expect("it was claimed");
        if self.idle.leave(evidence) {
            self.announce();
        }
    }

    /// Runs the sleeper: it sleeps until there is a task, and leaves with it.
    fn sleep(&self) {
        loop {
            let sees_work = !self.queue.is_empty();
            if !sees_work {
                self.parker.sleep();
                drop(self.parker.inbox.take());
            }
            let claimed = self.idle.get_up(SLEEPER);
            let evidence = claimed.unwrap_or_else(|| self.idle.search_anyway());
            if let Some(task) = self.queue.pop() {
                drop(task);
                return self.leave(SLEEPER, Some(evidence));
            }
            self.idle.lie_down(SLEEPER, Some(evidence));
        }
    }
}

/// The searcher leaves as a task arrives.
fn leave_behind(begin: Begin) {
    let taken = Taken::new(1);
    let (group, begun) = Group::new(begin, 1);
    let searcher = group.clone();
    let searcher = thread::spawn(move || searcher.leave(SEARCHER, begun));
    group.submit(taken.task(0));
    searcher.join().unwrap();
    assert!(!group.idle.is_sleeping(SLEEPER), "it sleeps, and a task waits");
    drop(group.queue.pop().expect("no worker took it"));
    taken.assert_each_once();
}

/// The same with one more task and one more sleeper: a claimed worker claims the next one.
fn pass_on(begin: Begin) {
    let taken = Taken::new(2);
    let (group, begun) = Group::new(begin, 2);
    group.idle.lie_down(LAST, None);
    let (searcher, sleeper) = (group.clone(), group.clone());
    let searcher = thread::spawn(move || searcher.leave(SEARCHER, begun));
    let sleeper = thread::spawn(move || sleeper.sleep());
    for number in 0..2 {
        group.submit(taken.task(number));
    }
    searcher.join().unwrap();
    sleeper.join().unwrap();
    assert!(!group.idle.is_sleeping(LAST), "it sleeps, and a task waits");
    drop(group.queue.pop().expect("no worker took it"));
    taken.assert_each_once();
}

#[test]
fn what_was_left_to_a_searcher_is_not_left_behind() {
    for begin in BEGINS {
        check(4, move || leave_behind(begin));
    }
}

#[test]
fn a_claimed_worker_claims_the_next_one() {
    for begin in BEGINS {
        // It also holds with one more preemption, which takes a minute.
        check(1, move || pass_on(begin));
    }
}

#[test]
fn it_fails_without_the_searchers_fence() {
    for begin in BEGINS {
        assert!(fails_without(Fence::Leave, 4, move || leave_behind(begin)), "{begin:?}");
    }
}
