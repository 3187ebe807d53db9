//! The word: of all who may end a wait one does, and of that one and the worker one has the fiber run.
//!
//! # Safety
//!
//! Trusted with cells that the checker watches.
#![expect(unsafe_code, reason = "what the protocol hands over is in cells that the checker watches")]

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize as LoomUsize, Ordering as LoomOrdering};
use loom::sync::{Arc, Mutex};
use loom::thread;
// The bookkeeping is none of the protocol: the checker need not see it.
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::rt::model::check;
use crate::rt::wait::word::{Cause, Ends, Runner, WaitId, WakeAction, Word};

/// A fiber, as the protocol sees it.
struct Fiber {
    word: Word,
    /// Written by the worker before it says that they are saved, read by whoever has the fiber run.
    registers: UnsafeCell<u32>,
    /// Written by whoever ends the wait, read by the fiber.
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
        // SAFETY: nobody runs the fiber before it is saved; the checker sees if somebody does.
        self.registers.with_mut(|registers| unsafe { *registers += 1 });
        if self.word.saved() == WakeAction::Schedule {
            self.run();
        }
    }

    /// Ends the wait, if it can. The message is written first, so only for a model with one that ends it.
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

    /// The fiber goes on.
    fn run(&self) {
        // SAFETY: the worker is done with them, or it is the worker that runs it; the checker sees if not.
        self.registers.with(|registers| assert_eq!(unsafe { *registers }, 1, "they are saved"));
        // SAFETY: whoever ended the wait is done with it; as above.
        self.message
            .with(|message| assert_eq!(unsafe { *message }, self.word.cause(), "the message was meant"));
        self.runs.fetch_add(1, Ordering::Relaxed);
    }

    fn assert_ran_once(&self) {
        assert_eq!(self.runs.load(Ordering::Relaxed), 1, "it goes on once");
    }
}

#[test]
fn an_event_is_seen_by_the_fiber_whoever_has_it_run() {
    check(3, || {
        let fiber = Fiber::new();
        let wait = fiber.word.begin_wait(Ends::ByEvent, Runner::Anybody).expect("no token");
        let other = fiber.clone();
        let waker = thread::spawn(move || {
            // SAFETY: the fiber reads it when the wait has ended; the checker sees if it does so before.
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
                // SAFETY: the wait has ended, and nobody else has the fiber run.
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
        assert!(fiber.word.end(event, Cause::Event).is_some(), "nobody else ends it");
        let park = fiber.word.begin_wait(Ends::ByUnpark, Runner::Anybody);
        unparker.join().unwrap();
        assert!(park.is_none_or(|park| !fiber.word.is_open(park)), "it is unparked");
    });
}

#[test]
fn whoever_is_late_ends_no_other_wait() {
    check(3, || {
        let fiber = Fiber::new();
        let first = fiber.word.begin_wait(Ends::ByEvent, Runner::Anybody).expect("no token");
        let other = fiber.clone();
        let late = thread::spawn(move || other.word.end(first, Cause::Time).is_some());
        // The fiber ends the wait itself, and begins another, in which nobody wakes it.
        let ended = fiber.word.end(first, Cause::Event).is_some();
        let second = fiber.word.begin_wait(Ends::ByEvent, Runner::Anybody).expect("no token");
        assert_ne!(late.join().unwrap(), ended, "one of the two");
        assert!(fiber.word.is_open(second));
    });
}

/// A fiber that stays with its worker, which takes from its line who was put there by others.
struct Resident {
    word: Word,
    /// How often it is in line.
    line: LoomUsize,
    /// What links it there. The worker has it until the wait begins, and then whoever ends the wait.
    link: UnsafeCell<u32>,
}

impl Resident {
    fn new() -> Arc<Self> {
        Arc::new(Self { word: Word::new(), line: LoomUsize::new(0), link: UnsafeCell::new(0) })
    }

    fn touch_link(&self) {
        // SAFETY: it is the caller's; the checker sees if it is not.
        self.link.with_mut(|link| unsafe { *link += 1 });
    }

    fn put_in_line(&self, next: Option<WakeAction>) {
        if next == Some(WakeAction::Schedule) {
            self.touch_link();
            self.line.fetch_add(1, LoomOrdering::Release);
        }
    }

    /// The worker runs it again when it is in line.
    fn sleep(&self) {
        while self.line.load(LoomOrdering::Acquire) == 0 {
            thread::yield_now();
        }
        self.line.fetch_sub(1, LoomOrdering::Relaxed);
        self.touch_link();
    }
}

/// It is never in line twice, nor when its wait is over, whether it had to wait or not.
#[test]
fn one_that_stays_is_run_once_for_each_wait_that_others_end() {
    for is_needed in [false, true] {
        check(3, move || {
            let fiber = Resident::new();
            // It pokes whenever it likes, and sees nothing of the fiber but its word.
            let poker = fiber.clone();
            let poker = thread::spawn(move || poker.put_in_line(poker.word.poke()));
            // The worker takes it out of its line, and runs it.
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

/// Two may end its wait, and hold a lock while they do. A poke and an unpark are for others, and the unpark is kept.
#[test]
fn one_that_stays_for_good_is_run_once_by_whoever_holds_the_lock() {
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
fn one_that_stays_loses_no_unpark() {
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
