//! A surplus worker that is called again: it sees that, with anything in its inbox at that moment.

use loom::thread;

use super::inbox::Parker;
use super::{Taken, check, fails_without};
use crate::sync::{AtomicUsize, Fence, Ordering, full_fence};

const SURPLUS: usize = 0;
const SPARE: usize = 1;

struct Seat {
    role: AtomicUsize,
    parker: Parker,
}

impl Seat {
    /// Leaked: a model in which a worker sleeps for ever must not drop the seat.
    fn new() -> &'static Self {
        Box::leak(Box::new(Self { role: AtomicUsize::new(SURPLUS), parker: Parker::new() }))
    }

    fn is_surplus(&self) -> bool {
        self.role.load(Ordering::Acquire) == SURPLUS
    }

    fn call(&self) {
        self.role.store(SPARE, Ordering::Release);
        full_fence(Fence::Role);
        self.parker.deliver(self.parker.inbox.tell());
    }

    /// Waits like a surplus worker, until it is called.
    fn linger(&self) {
        loop {
            drop(self.parker.inbox.take());
            if !self.is_surplus() {
                return;
            }
            full_fence(Fence::Fall);
            if self.is_surplus() {
                self.parker.sleep();
            }
        }
    }
}

/// The worker was told something else before.
fn call_told() {
    let seat = Seat::new();
    seat.parker.deliver(seat.parker.inbox.tell());
    let caller = thread::spawn(move || seat.call());
    seat.linger();
    caller.join().unwrap();
}

/// The worker has a task in its inbox, so telling it leaves the inbox as it is.
fn call_with_mail() {
    let (seat, taken) = (Seat::new(), Taken::new(1));
    seat.parker.deliver(seat.parker.inbox.push(taken.task(0)).expect("it is open"));
    let caller = thread::spawn(move || seat.call());
    seat.linger();
    caller.join().unwrap();
    taken.assert_each_once();
}

#[test]
fn a_surplus_worker_hears_that_it_is_called() {
    check(3, call_told);
    check(3, call_with_mail);
}

#[test]
fn it_fails_without_the_callers_fence() {
    assert!(fails_without(Fence::Role, 3, call_with_mail));
}

#[test]
fn it_fails_without_the_workers_fence() {
    assert!(fails_without(Fence::Fall, 3, call_with_mail));
}
