//! A counter: a waiter for zero sees the effects of all callers that counted down, and no waiter
//! waits for ever.

use loom::sync::Arc;
use loom::thread;
use std::time::Instant;

use super::watched::Watched;
use crate::raw::RawCount;
use crate::rt::model::check;
use crate::rt::{Limit, WaitKind};

struct Work {
    count: RawCount,
    parts: [Watched; 2],
}

impl Work {
    fn new(count: usize) -> Arc<Self> {
        Arc::new(Self { count: RawCount::new(count), parts: [Watched::new(), Watched::new()] })
    }

    fn does(&self, part: usize) {
        self.parts[part].add();
        self.count.sub(1).unwrap();
    }

    fn assert_is_done(&self) {
        assert_eq!([self.parts[0].get(), self.parts[1].get()], [1, 1]);
    }
}

#[test]
fn a_waiter_sees_the_effects_of_all_callers() {
    check(3, || {
        let work = Work::new(2);
        let workers = [0, 1].map(|part| {
            let work = work.clone();
            thread::spawn(move || work.does(part))
        });
        work.count.wait(WaitKind::Count, Limit::NEVER).unwrap();
        work.assert_is_done();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

#[test]
fn two_waiters_return_and_one_gives_up() {
    check(2, || {
        let work = Work::new(1);
        let (one, two) = (work.clone(), work.clone());
        let hasty = thread::spawn(move || {
            let is_zero = one.count.wait(WaitKind::Count, Limit::until(Some(Instant::now()))).is_ok();
            assert!(!is_zero || one.parts[0].get() == 1);
        });
        let worker = thread::spawn(move || two.does(0));
        work.count.wait(WaitKind::Count, Limit::NEVER).unwrap();
        assert_eq!(work.parts[0].get(), 1);
        hasty.join().unwrap();
        worker.join().unwrap();
    });
}

/// The waiter counts up again as soon as the count is zero. The caller that made it zero does not
/// wake the next wait.
#[test]
fn it_can_be_used_again() {
    check(3, || {
        let work = Work::new(1);
        let other = work.clone();
        let worker = thread::spawn(move || other.does(0));
        work.count.wait(WaitKind::Count, Limit::NEVER).unwrap();
        work.count.add(1).unwrap();
        let other = work.clone();
        let second = thread::spawn(move || other.does(1));
        work.count.wait(WaitKind::Count, Limit::NEVER).unwrap();
        work.assert_is_done();
        worker.join().unwrap();
        second.join().unwrap();
    });
}
