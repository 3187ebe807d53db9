//! Tasks that arrive together: the producer claims several workers, each once, and none of them
//! sleeps through the work.

use loom::sync::{Arc, Notify};
use loom::thread;

use super::inbox::Parker;
use super::{Taken, check, fails_without};
use crate::idle::Idle;
use crate::queue::twin::ArrayQueue;
use crate::sync::{AtomicUsize, Fence, Ordering, full_fence};

/// The workers' numbers, so far apart that they are not in the same half of a word.
const NUMBERS: [usize; 2] = [1, 33];

struct Group {
    idle: Idle,
    queue: ArrayQueue,
    parkers: [Parker; 2],
    taken: Taken,
    /// Notified when a worker has taken the second task.
    second: Notify,
}

impl Group {
    /// Leaked: a model in which a worker sleeps for ever must not drop the group.
    fn new() -> &'static Self {
        Box::leak(Box::new(Self {
            idle: Idle::new(2),
            queue: ArrayQueue::new(2),
            parkers: [Parker::new(), Parker::new()],
            taken: Taken::new(2),
            second: Notify::new(),
        }))
    }

    fn announce(&self, count: usize) {
        let tell = |number| {
            // A wrong number wakes no worker.
            if let Some(index) = NUMBERS.iter().position(|it| *it == number) {
                self.parkers[index].deliver(self.parkers[index].inbox.tell());
            }
        };
        let _ = self.idle.work_arrived(count, || !self.queue.is_empty(), tell);
    }

    /// Lies down, repeatedly, until there is a task. The worker with the first task runs until
    /// another one has taken the second.
    fn work(&self, index: usize) {
        let mut searching = None;
        let task = loop {
            if let Some(task) = self.queue.pop() {
                break task;
            }
            self.idle.lie_down(NUMBERS[index], searching.take());
            let sees_work = !self.queue.is_empty();
            if !sees_work {
                self.parkers[index].sleep();
                drop(self.parkers[index].inbox.take());
            }
            searching = self.idle.get_up(NUMBERS[index]);
            if sees_work {
                searching = searching.or_else(|| Some(self.idle.search_anyway()));
            }
        };
        if searching.is_some_and(|evidence| self.idle.leave(evidence)) {
            self.announce(1);
        }
        drop(task);
        match self.taken.total() {
            1 => self.second.wait(),
            _ => self.second.notify(),
        }
    }
}

/// Two tasks, of which the first needs the second, and two workers.
fn produce_two() {
    let group = Group::new();
    let workers = [0, 1].map(|index| thread::spawn(move || group.work(index)));
    for number in 0..2 {
        group.queue.push(group.taken.task(number)).unwrap();
    }
    full_fence(Fence::Announce);
    group.announce(2);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    group.taken.assert_each_once();
}

#[test]
fn no_worker_sleeps_through_a_batch() {
    check(1, produce_two);
}

#[test]
fn it_fails_without_the_fences() {
    for fence in [Fence::Announce, Fence::LieDown] {
        assert!(fails_without(fence, 1, produce_two), "{fence:?}");
    }
}
