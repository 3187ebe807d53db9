//! The inbox: its owner sleeps through nothing that arrives.

use loom::sync::{Arc, Notify};
use loom::thread;

use super::{Taken, check};
use crate::inbox::{Inbox, Next};

/// An inbox, and a stand-in for the driver that its owner sleeps in.
pub(super) struct Parker {
    pub(super) inbox: Inbox,
    driver: Notify,
}

impl Parker {
    pub(super) fn new() -> Self {
        Self { inbox: Inbox::new(), driver: Notify::new() }
    }

    pub(super) fn deliver(&self, next: Next) {
        if next == Next::Wake {
            self.driver.notify();
        }
    }

    /// Sleeps unless the inbox has something. If no thread wakes it, the checker reports a
    /// deadlock.
    pub(super) fn sleep(&self) {
        if self.inbox.lie_down() {
            self.driver.wait();
        }
    }
}

#[test]
fn nothing_that_arrives_is_slept_through() {
    check(3, || {
        let taken = Taken::new(2);
        let parker = Arc::new(Parker::new());
        let producers = [0, 1].map(|number| {
            let (parker, task) = (parker.clone(), taken.task(number));
            thread::spawn(move || parker.deliver(parker.inbox.push(task).unwrap()))
        });
        while taken.total() < 2 {
            parker.sleep();
            drop(parker.inbox.take());
        }
        producers.into_iter().for_each(|producer| producer.join().unwrap());
        taken.assert_each_once();
    });
}

#[test]
fn an_owner_that_is_told_stays_up() {
    check(3, || {
        let parker = Arc::new(Parker::new());
        let other = parker.clone();
        let teller = thread::spawn(move || other.deliver(other.inbox.tell()));
        // Ends whether the owner is told before or after it lies down.
        parker.sleep();
        drop(parker.inbox.take());
        teller.join().unwrap();
    });
}

#[test]
fn closing_wakes_an_owner_that_sleeps() {
    check(3, || {
        let taken = Taken::new(1);
        let parker = Arc::new(Parker::new());
        let (pusher, sweeper) = (parker.clone(), parker.clone());
        let task = taken.task(0);
        let pusher = thread::spawn(move || match pusher.inbox.push(task) {
            Ok(next) => pusher.deliver(next),
            Err(task) => drop(task),
        });
        let sweeper = thread::spawn(move || {
            let (swept, next) = sweeper.inbox.close();
            sweeper.deliver(next);
            drop(swept);
        });
        parker.sleep();
        drop(parker.inbox.take());
        pusher.join().unwrap();
        sweeper.join().unwrap();
        assert!(!parker.inbox.lie_down(), "what is closed stays closed");
        taken.assert_each_once();
    });
}
