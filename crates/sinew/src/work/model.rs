//! Models of the inbox: each task is handed out once and in order, by one consumer at a time, and
//! none is forgotten.
//!
//! # Safety
//!
//! Trusted with nothing: the checker watches the data of the consumer.
#![expect(unsafe_code, reason = "what a consumer has to itself is in a cell that the checker watches")]

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::inbox::{AfterLast, ConsumerAction, Inbox};
use super::lane::{Lanes, Urgency};
use crate::rt::model::check;

/// A queue without fibers: a thread that gets the right to be the consumer consumes at once.
struct Model {
    inbox: Inbox<u32>,
    consumer: UnsafeCell<(Lanes<u32>, Vec<u32>)>,
}

// SAFETY: the checker panics before two threads access the cell at once.
unsafe impl Send for Model {}
// SAFETY: as above.
unsafe impl Sync for Model {}

impl Model {
    fn new() -> Arc<Self> {
        let consumer = UnsafeCell::new((Lanes::new(), Vec::new()));
        Arc::new(Self { inbox: Inbox::new(), consumer })
    }

    /// Pushes a task. Returns whether it was accepted.
    fn push(&self, task: u32, urgency: Urgency) -> bool {
        match self.inbox.push(task, urgency) {
            Ok(ConsumerAction::Start) => self.run(),
            Ok(ConsumerAction::Nothing) => {}
            Err(back) => {
                assert_eq!(back, task);
                return false;
            }
        }
        true
    }

    fn stop(&self) {
        if self.inbox.stop() == ConsumerAction::Start {
            self.run();
        }
    }

    fn run(&self) {
        loop {
            // SAFETY: as for `Sync`.
            self.consumer.with_mut(|consumer| unsafe { self.consume(&mut *consumer) });
            if self.inbox.finish() != AfterLast::Tasks {
                return;
            }
        }
    }

    fn consume(&self, (lanes, done): &mut (Lanes<u32>, Vec<u32>)) {
        lanes.add(self.inbox.take());
        while !lanes.is_empty() {
            if self.inbox.wants_look() {
                lanes.add(self.inbox.take());
            }
            done.extend(lanes.pop_urgent().or_else(|| lanes.pop_normal()));
        }
    }

    /// Returns the tasks that were done, after all threads that push have ended.
    fn done(&self) -> Vec<u32> {
        // SAFETY: as for `Sync`.
        self.consumer.with(|consumer| unsafe { &*consumer }.1.clone())
    }
}

#[test]
fn pushed_tasks_are_done_in_order() {
    check(3, || {
        let model = Model::new();
        let other = model.clone();
        let pushes =
            thread::spawn(move || assert!(other.push(1, Urgency::Normal) && other.push(2, Urgency::Normal)));
        assert!(model.push(11, Urgency::Normal));
        pushes.join().unwrap();
        // The last thread that consumes has seen what the others did.
        assert!(model.push(12, Urgency::Normal));
        let done = model.done();
        let of = |from: u32| done.iter().filter(move |task| **task / 10 == from).copied().collect::<Vec<_>>();
        assert_eq!((of(0), of(1)), (vec![1, 2], vec![11, 12]));
    });
}

/// One thread pushes an urgent task, one pushes another task, and one stops the inbox. Accepted
/// tasks are done.
#[test]
fn accepted_tasks_are_done_before_the_end() {
    check(2, || {
        let model = Model::new();
        let (one, two) = (model.clone(), model.clone());
        let urgent = thread::spawn(move || one.push(1, Urgency::Urgent));
        let normal = thread::spawn(move || two.push(2, Urgency::Normal));
        model.stop();
        let accepted = [(1, urgent.join().unwrap()), (2, normal.join().unwrap())];
        let mut done = model.done();
        done.sort_unstable();
        assert!(done.into_iter().eq(accepted.into_iter().filter(|(_, is)| *is).map(|(task, _)| task)));
        assert!(!model.push(3, Urgency::Normal));
    });
}

/// A consumer that knows that an urgent task was pushed sees its flag, or has its task.
#[test]
fn no_urgent_flag_is_cleared_unseen() {
    check(3, || {
        let inbox = Arc::new(Inbox::new());
        // This thread has the right to consume.
        assert_eq!(inbox.push(0, Urgency::Urgent), Ok(ConsumerAction::Start));
        let other = inbox.clone();
        let pushes =
            thread::spawn(move || assert_eq!(other.push(1, Urgency::Urgent), Ok(ConsumerAction::Nothing)));
        let mut lanes = Lanes::new();
        let mut look = || {
            if inbox.wants_look() {
                lanes.add(inbox.take());
            }
            lanes.urgent()
        };
        look();
        pushes.join().unwrap();
        assert_eq!(look(), 2);
    });
}
