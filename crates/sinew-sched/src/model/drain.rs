//! The drain: it ends, and not before all is done, while workers rise, send tasks to one another
//! and fall asleep again.

use loom::thread;

use super::inbox::Parker;
use super::{Taken, check, fails_without};
use crate::lifecycle::{Awake, Stage, StageWord};
use crate::sync::Fence;
use crate::task::TaskRef;

struct Pool {
    stage: StageWord,
    awake: Awake,
    parkers: [Parker; 2],
    taken: Taken,
}

impl Pool {
    /// Leaked: a model in which a worker sleeps for ever must not drop the pool.
    fn new(tasks: usize) -> &'static Self {
        let parkers = [Parker::new(), Parker::new()];
        Box::leak(Box::new(Self {
            stage: StageWord::new(),
            awake: Awake::new(),
            parkers,
            taken: Taken::new(tasks),
        }))
    }

    fn post(&self, worker: usize, task: TaskRef) {
        let parker = &self.parkers[worker];
        parker.deliver(parker.inbox.push(task).expect("nothing is sent when it is over"));
    }

    fn drain(&self) {
        self.stage.begin_drain();
        self.parkers.iter().for_each(|parker| parker.deliver(parker.inbox.tell()));
    }

    /// Runs a worker: takes the tasks that arrive, and sends the next one to the other worker until
    /// there are no more.
    fn work(&self, index: usize) {
        let parker = &self.parkers[index];
        while self.stage.get() != Stage::Over {
            let arrived = parker.inbox.take();
            while let Some(task) = arrived.pop_front() {
                // A real worker reads the stage before each task too: the pool must not be over
                // while a worker has a task.
                assert_ne!(self.stage.get(), Stage::Over, "it is over and a task is left");
                drop(task);
                let next = self.taken.total();
                if next < self.taken.len() {
                    self.post(1 - index, self.taken.task(next));
                }
            }
            self.awake.fall();
            self.end_if_drained();
            parker.sleep();
            self.awake.rise();
        }
    }

    fn end_if_drained(&self) {
        let is_empty = || !self.parkers.iter().any(|parker| parker.inbox.has_tasks());
        if self.stage.get() == Stage::Draining && self.awake.nobody_while(is_empty) {
            self.taken.assert_each_once();
            self.stage.end();
            for parker in &self.parkers {
                parker.deliver(parker.inbox.close().1);
            }
        }
    }
}

/// Two workers with this number of tasks, one after the other. The first task is at the first
/// worker.
fn drain_two(tasks: usize) {
    let pool = Pool::new(tasks);
    pool.awake.rise();
    pool.awake.rise();
    pool.post(0, pool.taken.task(0));
    let workers = [0, 1].map(|index| thread::spawn(move || pool.work(index)));
    pool.drain();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    pool.taken.assert_each_once();
}

/// One worker, which may not have seen the drain when it checks.
fn drain_one() {
    let pool = Pool::new(1);
    pool.awake.rise();
    pool.post(0, pool.taken.task(0));
    let worker = thread::spawn(move || pool.work(0));
    pool.drain();
    worker.join().unwrap();
}

#[test]
fn it_ends_when_all_is_done() {
    check(3, drain_one);
    check(2, || drain_two(1));
    check(2, || drain_two(2));
}

#[test]
fn it_fails_without_the_drainers_fence() {
    assert!(fails_without(Fence::Drain, 3, drain_one));
}

#[test]
fn it_fails_without_the_fence_of_a_worker_that_falls() {
    assert!(fails_without(Fence::Fall, 3, drain_one));
}

#[test]
fn it_fails_without_the_fence_of_a_worker_that_rises() {
    assert!(fails_without(Fence::Rise, 3, || drain_two(2)));
}

#[test]
fn it_fails_without_the_fence_of_a_worker_that_checks() {
    assert!(fails_without(Fence::Drained, 3, || drain_two(2)));
}
