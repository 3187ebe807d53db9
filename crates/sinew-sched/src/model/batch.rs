//! Tasks that arrive together: as many workers are claimed, each once, and none of them sleeps through it.

use loom::sync::{Arc, Notify};
use loom::thread;

use super::inbox::Parker;
use super::{STRATEGIES, Taken, check, fails_without};
use crate::idle::Idle;
use crate::queue::twin::ArrayQueue;
use crate::strategy::Strategy;
use crate::sync::{AtomicUsize, Fence, Ordering, full_fence};

/// The workers' numbers: far enough apart that half a word does not hold both.
const NUMBERS: [usize; 2] = [1, 33];

struct Group {
    idle: Idle,
    queue: ArrayQueue,
    parkers: [Parker; 2],
    taken: Taken,
    /// Somebody took the second task.
    second: Notify,
}

impl Group {
    /// It stays for good: a worker that is found to sleep for ever must not come to drop it.
    fn new(strategy: Strategy) -> &'static Self {
        Box::leak(Box::new(Self {
            idle: Idle::new(strategy, 2),
            queue: ArrayQueue::new(2),
            parkers: [Parker::new(), Parker::new()],
            taken: Taken::new(2),
            second: Notify::new(),
        }))
    }

    fn announce(&self, count: usize) {
        let tell = |number| {
            // Nobody is there for a wrong one.
            if let Some(index) = NUMBERS.iter().position(|it| *it == number) {
                self.parkers[index].deliver(self.parkers[index].inbox.tell());
            }
        };
        let _ = self.idle.work_arrived(count, || !self.queue.is_empty(), tell);
    }

    /// Lies down, and again until there is a task. Whoever has the first runs on until somebody has taken the second.
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
                searching = searching.or_else(|| Some(self.idle.search_anyway(NUMBERS[index])));
            }
        };
        if searching.is_some_and(|evidence| self.idle.leave(NUMBERS[index], evidence)) {
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
fn produce_two(strategy: Strategy) {
    let group = Group::new(strategy);
    let workers = [0, 1].map(|index| thread::spawn(move || group.work(index)));
    for number in 0..2 {
        group.queue.push(group.taken.task(number)).unwrap();
    }
    full_fence(Fence::Announce);
    group.announce(2);
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    group.taken.assert_each_once();
}

/// Two workers sleep, and two tasks arrive for them at once with another one.
fn claim_two(strategy: Strategy) {
    let idle = Arc::new(Idle::new(strategy, 2));
    let told = Arc::new(NUMBERS.map(|_| AtomicUsize::new(0)));
    NUMBERS.into_iter().for_each(|number| idle.lie_down(number, None));
    let arrive = |count| {
        let (idle, told) = (idle.clone(), told.clone());
        move || {
            full_fence(Fence::Announce);
            let tell = |number| {
                let index = NUMBERS.iter().position(|it| *it == number);
                index.into_iter().for_each(|index| _ = told[index].fetch_add(1, Ordering::Relaxed));
            };
            let _ = idle.work_arrived(count, || true, tell);
        }
    };
    let other = thread::spawn(arrive(1));
    arrive(2)();
    other.join().unwrap();
    assert!(told.iter().all(|times| times.load(Ordering::Relaxed) == 1), "each is told once");
}

#[test]
fn as_many_are_claimed_as_tasks_arrive() {
    // A searcher that was claimed before is enough for all that `Local` has arrive: it has others woken.
    check(4, || claim_two(Strategy::Shared));
}

#[test]
fn none_sleeps_through_it() {
    for strategy in STRATEGIES {
        check(1, move || produce_two(strategy));
    }
}

#[test]
fn it_fails_without_the_fences() {
    for strategy in STRATEGIES {
        for fence in [Fence::Announce, Fence::LieDown] {
            assert!(fails_without(fence, 1, move || produce_two(strategy)), "{strategy}, {fence:?}");
        }
    }
}

/// As in flare, where the number of a bit was counted from one, and bits above the 32nd were shifted out.
#[test]
fn it_fails_with_wrong_bits() {
    for strategy in STRATEGIES {
        for bit in [Fence::OwnBit, Fence::FullShift] {
            assert!(fails_without(bit, 1, move || produce_two(strategy)), "{strategy}, {bit:?}");
        }
    }
    assert!(fails_without(Fence::OwnBit, 4, || claim_two(Strategy::Shared)));
    assert!(fails_without(Fence::FullShift, 4, || claim_two(Strategy::Shared)));
}
