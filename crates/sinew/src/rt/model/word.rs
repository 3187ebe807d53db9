//! Models of the word: one of all who may end a wait ends it, and either that thread or the worker
//! runs the fiber.
//!
//! # Safety
//!
//! Trusted with cells that the checker watches.
#![expect(unsafe_code, reason = "what the protocol hands over is in cells that the checker watches")]

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize as LoomUsize, Ordering as LoomOrdering};
use loom::sync::{Arc, Mutex};
use loom::thread;
// The bookkeeping is not part of the protocol: the checker need not see it.
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::rt::model::check;
use crate::rt::wait::word::{Cause, Ends, Runner, WaitId, WakeAction, Word};

/// A fiber, reduced to what the protocol needs.
struct Fiber {
    word: Word,
    /// Written by the worker before it marks them as saved, read by the thread that runs the fiber.
    registers: UnsafeCell<u32>,
    /// Written by the thread that ends the wait, read by the fiber.
    message: UnsafeCell<Cause>,
    runs: AtomicUsize,
}

impl Fiber {
    fn new() -> Arc<Self> {
        let (registers, message) = (UnsafeCell::new(0), UnsafeCell::new(Cause::Event));
        Arc::new(Self { word: Word::new(), registers, message, runs: AtomicUsize::new(0) })
    }

    /// The worker saves the registers of the fiber that has begun a wait.
    fn save(&self) {
        // SAFETY: no thread runs the fiber before it is saved. The checker detects one that does.
        self.registers.with_mut(|registers| unsafe { *registers += 1 });
        if self.word.saved() == WakeAction::Schedule {
            self.run();
        }
    }

    /// Ends the wait, if it is open. The message is written before that, so a model with messages
    /// has one thread that ends the wait.
    fn end(&self, wait: WaitId, cause: Cause) -> bool {
        match self.word.end(wait, cause) {
            Some(next) => {
                if next == WakeAction::Schedule {
                    self.run();
                }
                true
            }
            None => false,
        }
    }

    /// The fiber continues.
    fn run(&self) {
        // SAFETY: the worker has stopped using them, or it is the worker that runs the fiber. The
        // checker detects if not.
        self.registers.with(|registers| assert_eq!(unsafe { *registers }, 1, "they are saved"));
        // SAFETY: the thread that ended the wait has stopped using it. As above.
        self.message
            .with(|message| assert_eq!(unsafe { *message }, self.word.cause(), "the message was meant"));
        self.runs.fetch_add(1, Ordering::Relaxed);
    }

    fn assert_ran_once(&self) {
        assert_eq!(self.runs.load(Ordering::Relaxed), 1, "it continues once");
    }
}

#[test]
fn an_event_is_seen_by_the_fiber_on_whichever_thread_it_runs() {
    check(3, || {
        let fiber = Fiber::new();
        let wait = fiber.word.begin_wait(Ends::ByEvent, Runner::Anybody).expect("no token");
        let other = fiber.clone();
        let waker = thread::spawn(move || {
            // SAFETY: the fiber reads it after the wait has ended. The checker detects if it does
            // so before.
            other.message.with_mut(|message| unsafe { *message = Cause::Time });
            assert!(other.end(wait, Cause::Time));
        });
        fiber.save();
        waker.join().unwrap();
        fiber.assert_ran_once();
    });
}

#[test]
fn of_two_that_end_a_wait_one_does() {
    check(3, || {
        let fiber = Fiber::new();
        let wait = fiber.word.begin_wait(Ends::ByEvent, Runner::Anybody).expect("no token");
        let wakers = [(); 2].map(|()| {
            let fiber = fiber.clone();
            thread::spawn(move || fiber.end(wait, Cause::Event))
        });
        fiber.save();
        let won = wakers.map(|waker| waker.join().unwrap());
        assert_eq!(won.iter().filter(|won| **won).count(), 1);
        fiber.assert_ran_once();
    });
}

#[test]
fn an_unpark_is_never_lost() {
    check(3, || {
        let fiber = Fiber::new();
        let other = fiber.clone();
        let unparker = thread::spawn(move || {
            if other.word.unpark() == WakeAction::Schedule {
                // SAFETY: the wait has ended, and no other thread runs the fiber.
                other.registers.with(|registers| assert_eq!(unsafe { *registers }, 1));
                other.runs.fetch_add(1, Ordering::Relaxed);
            }
        });
        match fiber.word.begin_wait(Ends::ByUnpark, Runner::Anybody) {
            None => {
                fiber.runs.fetch_add(1, Ordering::Relaxed);
            }
            Some(_) => {
                // SAFETY: as in `save`.
                fiber.registers.with_mut(|registers| unsafe { *registers += 1 });
                if fiber.word.saved() == WakeAction::Schedule {
                    fiber.runs.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
        unparker.join().unwrap();
        fiber.assert_ran_once();
    });
}

#[test]
fn an_unpark_during_another_wait_is_kept() {
    check(3, || {
        let fiber = Fiber::new();
        let other = fiber.clone();
        let unparker =
            thread::spawn(move || assert_eq!(other.word.unpark(), WakeAction::Nothing, "it is never saved"));
        let event = fiber.word.begin_wait(Ends::ByEvent, Runner::Anybody).expect("it is not for this one");
        assert!(fiber.word.end(event, Cause::Event).is_some(), "no other thread ends it");
        let park = fiber.word.begin_wait(Ends::ByUnpark, Runner::Anybody);
        unparker.join().unwrap();
        assert!(park.is_none_or(|park| !fiber.word.is_open(park)), "it is unparked");
    });
}

#[test]
fn a_late_waker_ends_no_other_wait() {
    check(3, || {
        let fiber = Fiber::new();
        let first = fiber.word.begin_wait(Ends::ByEvent, Runner::Anybody).expect("no token");
        let other = fiber.clone();
        let late = thread::spawn(move || other.word.end(first, Cause::Time).is_some());
        // The fiber ends the wait itself, and begins another, in which no thread wakes it.
        let ended = fiber.word.end(first, Cause::Event).is_some();
        let second = fiber.word.begin_wait(Ends::ByEvent, Runner::Anybody).expect("no token");
        assert_ne!(late.join().unwrap(), ended, "one of the two");
        assert!(fiber.word.is_open(second));
    });
}

/// A fiber that stays with its worker. The worker takes fibers from a queue that other threads put
/// them into.
struct Resident {
    word: Word,
    /// How often the fiber is in the queue.
    line: LoomUsize,
    /// The link of the fiber in the queue. The worker owns it until the wait begins, and then the
    /// thread that ends the wait.
    link: UnsafeCell<u32>,
}

impl Resident {
    fn new() -> Arc<Self> {
        Arc::new(Self { word: Word::new(), line: LoomUsize::new(0), link: UnsafeCell::new(0) })
    }

    fn touch_link(&self) {
        // SAFETY: the caller owns it. The checker detects if not.
        self.link.with_mut(|link| unsafe { *link += 1 });
    }

    fn put_in_line(&self, next: Option<WakeAction>) {
        if next == Some(WakeAction::Schedule) {
            self.touch_link();
            self.line.fetch_add(1, LoomOrdering::Release);
        }
    }

    /// The worker runs the fiber again when it is in the queue.
    fn sleep(&self) {
        while self.line.load(LoomOrdering::Acquire) == 0 {
            thread::yield_now();
        }
        self.line.fetch_sub(1, LoomOrdering::Relaxed);
        self.touch_link();
    }
}

/// The fiber is never in the queue twice, nor after its wait is over, whether it had to wait or
/// not.
#[test]
fn a_fiber_that_stays_is_run_once_for_each_wait_that_others_end() {
    for is_needed in [false, true] {
        check(3, move || {
            let fiber = Resident::new();
            // It pokes at any moment, and sees nothing of the fiber but its word.
            let poker = fiber.clone();
            let poker = thread::spawn(move || poker.put_in_line(poker.word.poke()));
            // The worker takes the fiber out of its queue, and runs it.
            fiber.touch_link();
            let wait = fiber.word.begin_wait(Ends::EventOrCancel, Runner::Same).expect("no token");
            let waker = fiber.clone();
            let waker = thread::spawn(move || waker.put_in_line(waker.word.end(wait, Cause::Time)));
            let others = [poker, waker];
            if is_needed || fiber.word.end(wait, Cause::Event).is_none() {
                fiber.sleep();
            }
            others.into_iter().for_each(|other| other.join().unwrap());
            assert_eq!(fiber.line.load(LoomOrdering::Relaxed), 0);
        });
    }
}

/// Two threads may end its wait, and hold a lock while they do. A poke and an unpark are meant for
/// other waits, and the unpark is kept.
#[test]
fn a_fiber_that_stays_for_good_is_run_once_by_the_holder_of_the_lock() {
    check(2, || {
        let fiber = Resident::new();
        let meddler = fiber.clone();
        let meddler = thread::spawn(move || {
            meddler.put_in_line(meddler.word.poke());
            meddler.put_in_line(Some(meddler.word.unpark()));
        });
        fiber.touch_link();
        let wait = fiber.word.begin_wait(Ends::ByHolder, Runner::Settled).expect("it is not for this one");
        let known = Arc::new(Mutex::new(Some(wait)));
        let (other, others_known) = (fiber.clone(), known.clone());
        let end = |fiber: &Resident, known: &Mutex<Option<WaitId>>| {
            let known = known.lock().unwrap().take();
            fiber.put_in_line(known.and_then(|wait| fiber.word.end(wait, Cause::Event)));
        };
        let waker = thread::spawn(move || end(&other, &others_known));
        end(&fiber, &known);
        fiber.sleep();
        assert_eq!(fiber.word.cause(), Cause::Event);
        if fiber.word.begin_wait(Ends::ByUnpark, Runner::Settled).is_some() {
            fiber.sleep();
        }
        [meddler, waker].into_iter().for_each(|other| other.join().unwrap());
        assert_eq!(fiber.line.load(LoomOrdering::Relaxed), 0);
    });
}

#[test]
fn a_fiber_that_stays_loses_no_unpark() {
    check(3, || {
        let fiber = Resident::new();
        let unparkers = [(); 2].map(|()| {
            let fiber = fiber.clone();
            thread::spawn(move || fiber.put_in_line(Some(fiber.word.unpark())))
        });
        if fiber.word.begin_wait(Ends::ByUnpark, Runner::Same).is_some() {
            fiber.sleep();
            assert_eq!(fiber.word.cause(), Cause::Unpark);
        }
        unparkers.into_iter().for_each(|unparker| unparker.join().unwrap());
        assert_eq!(fiber.line.load(LoomOrdering::Relaxed), 0);
    });
}
