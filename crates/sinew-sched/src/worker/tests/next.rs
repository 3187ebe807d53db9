//! A running task takes the next task from its worker, and leaves some turns to the queues.

use std::iter;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::super::Worker;
use super::support::{STRATEGIES, idle_task, workers};
use crate::strategy::Strategy;
use crate::task::Context;
use crate::task::TaskRef;

/// A worker, and the numbers of the tasks that have run there.
struct Fixture {
    worker: Worker,
    sender: Sender<u32>,
    ran: Receiver<u32>,
}

impl Fixture {
    fn new(strategy: Strategy) -> Self {
        let worker = workers(strategy, 1).pop().unwrap();
        let (sender, ran) = channel();
        Self { worker, sender, ran }
    }

    fn context(&self) -> Context<'_> {
        Context::of_worker(&self.worker)
    }

    fn task(&self, number: u32) -> TaskRef {
        let sender = self.sender.clone();
        TaskRef::new(move |_| sender.send(number).unwrap())
    }

    /// Runs a task, and returns its number.
    fn run(&self, task: Option<TaskRef>) -> Option<u32> {
        task?.run(&self.context());
        Some(self.ran.try_recv().unwrap())
    }
}

#[test]
fn a_task_takes_the_next_ready_one() {
    for strategy in STRATEGIES {
        let fixture = Fixture::new(strategy);
        let context = fixture.context();
        assert!(context.take_next().is_none(), "{strategy}: none is ready");
        (1..=3).for_each(|number| context.core().push(fixture.task(number)));
        let order: Vec<_> = iter::from_fn(|| fixture.run(context.take_next())).collect();
        assert_eq!(order, [1, 2, 3], "{strategy}");
        assert_eq!(context.core().stats().tasks, 3, "{strategy}: the worker has run them");
    }
}

#[test]
fn a_task_exchanges_itself_for_the_next_ready_one() {
    for strategy in STRATEGIES {
        let fixture = Fixture::new(strategy);
        let context = fixture.context();
        assert_eq!(fixture.run(context.exchange(fixture.task(1))), Some(1), "{strategy}: no other is ready");
        context.core().push(fixture.task(2));
        assert_eq!(fixture.run(context.exchange(fixture.task(3))), Some(2), "{strategy}");
        assert_eq!(fixture.run(context.take_next()), Some(3), "{strategy}");
        assert_eq!(context.core().stats().tasks, 3, "{strategy}: the worker has run them");
    }
}

/// However many tasks are ready, they leave turns to the group's queue.
#[test]
fn tasks_that_take_the_next_one_leave_turns_to_the_queue() {
    for strategy in STRATEGIES {
        let fixture = Fixture::new(strategy);
        let context = fixture.context();
        (0..1_000).for_each(|_| context.core().push(idle_task()));
        fixture.worker.group.queue.push(fixture.task(1));
        let taken = iter::from_fn(|| context.take_next()).count();
        assert!((1..1_000).contains(&taken), "{strategy}: {taken}");
        let (ready, again) = (context.core().ready(), idle_task());
        assert!(context.exchange(again).is_none(), "{strategy}: it is not its turn either");
        assert_eq!(context.core().ready(), ready + 1, "{strategy}: and the task is kept");
        assert_eq!(fixture.run(fixture.worker.pick()), Some(1), "{strategy}");
        assert!(context.take_next().is_some(), "{strategy}");
    }
}

/// As above, with the worker's deque in place of the queue.
#[test]
fn tasks_that_take_the_next_one_leave_turns_to_the_deque() {
    let fixture = Fixture::new(Strategy::Local);
    let context = fixture.context();
    (0..100).for_each(|_| context.core().push(idle_task()));
    assert!(context.take_next().is_some());
    context.submit(fixture.task(1));
    let taken = iter::from_fn(|| context.take_next()).count();
    assert!((1..99).contains(&taken), "{taken}");
    assert_eq!(fixture.run(fixture.worker.pick()), Some(1));
}

/// The worker announces a yielded task when it picks the next task itself.
#[test]
fn no_task_takes_the_next_one_while_a_yielded_task_is_unannounced() {
    for strategy in STRATEGIES {
        let fixture = Fixture::new(strategy);
        let context = fixture.context();
        context.core().push(fixture.task(1));
        assert!(fixture.worker.pick().is_some(), "{strategy}: this one begins");
        context.core().push(fixture.task(2));
        context.yield_to_others(fixture.task(3));
        assert!(context.take_next().is_none(), "{strategy}");
        assert_eq!(fixture.run(fixture.worker.pick()), Some(2), "{strategy}");
        context.core().push(fixture.task(4));
        assert_eq!(fixture.run(context.take_next()), Some(4), "{strategy}: it is announced");
    }
}

#[test]
fn only_the_newest_task_is_taken_back() {
    let fixture = Fixture::new(Strategy::Local);
    let context = fixture.context();
    let submit = |number| {
        context.submit(fixture.task(number));
        fixture.worker.deque.newest().expect("it is in the deque")
    };
    let [first, second] = [1, 2].map(submit);
    assert!(context.take_newest(first).is_none(), "another was submitted after it");
    assert_eq!(fixture.run(context.take_newest(second)), Some(2));
    assert!(context.take_newest(second).is_none(), "it is gone");
    assert_eq!(fixture.run(context.take_newest(first)), Some(1));
    assert!(context.take_newest(first).is_none(), "the deque is empty");
}

#[test]
fn a_context_tells_its_worker() {
    let worker = workers(Strategy::Local, 2).pop().unwrap();
    let text = format!("{:?}", Context::of_worker(&worker));
    assert!(text.contains("Worker { index: 1"), "{text}");
}
