//! Models of a cancel that meets the beginning of a wait: the fiber does not wait for ever, and
//! continues once.

use loom::sync::Arc;
use loom::thread;
// The bookkeeping is not part of the protocol: the checker need not see it.
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::rt::model::check;
use crate::rt::wait::stop::{StopFlag, meet};
use crate::rt::wait::word::{Cause, Ends, Runner, WaitId, WakeAction, Word};

/// A fiber and its stop flag, reduced to what the protocol needs.
struct Fiber {
    word: Word,
    flag: StopFlag,
    /// How often a thread got the right to run it.
    runs: AtomicUsize,
}

impl Fiber {
    fn new() -> Arc<Self> {
        Arc::new(Self { word: Word::new(), flag: StopFlag::new(), runs: AtomicUsize::new(0) })
    }

    fn run_if(&self, next: Option<WakeAction>) {
        if next == Some(WakeAction::Schedule) {
            self.runs.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn cancel(&self) {
        self.flag.raise();
        self.run_if(self.word.poke());
    }

    /// The fiber waits, and its worker saves it, unless it sees the flag.
    fn wait(&self, wait: WaitId) {
        meet();
        if self.flag.is_raised() {
            // Poked or not, it continues by itself.
            let _ = self.word.end(wait, Cause::Cancel);
            self.runs.fetch_add(1, Ordering::Relaxed);
        } else {
            self.run_if(Some(self.word.saved()));
        }
    }

    fn assert_ran_once(&self) {
        assert_eq!(self.runs.load(Ordering::Relaxed), 1, "it continues once");
    }
}

#[test]
fn a_cancel_is_never_lost() {
    check(3, || {
        let fiber = Fiber::new();
        let other = fiber.clone();
        let canceller = thread::spawn(move || other.cancel());
        let wait = fiber.word.begin_wait(Ends::EventOrCancel, Runner::Anybody).expect("no token");
        fiber.wait(wait);
        canceller.join().unwrap();
        fiber.assert_ran_once();
    });
}

#[test]
fn of_a_cancel_and_an_event_one_ends_the_wait() {
    check(3, || {
        let fiber = Fiber::new();
        let wait = fiber.word.begin_wait(Ends::EventOrCancel, Runner::Anybody).expect("no token");
        let (one, two) = (fiber.clone(), fiber.clone());
        let canceller = thread::spawn(move || one.cancel());
        let event = thread::spawn(move || {
            let next = two.word.end(wait, Cause::Event);
            two.run_if(next);
            next.is_some()
        });
        // It has looked already: only these two end the wait.
        fiber.run_if(Some(fiber.word.saved()));
        canceller.join().unwrap();
        let is_event = event.join().unwrap();
        assert_eq!(fiber.word.cause(), if is_event { Cause::Event } else { Cause::Cancel });
        fiber.assert_ran_once();
    });
}

#[test]
fn a_poke_ends_no_other_wait() {
    check(3, || {
        let fiber = Fiber::new();
        let other = fiber.clone();
        let canceller = thread::spawn(move || other.cancel());
        let wait = fiber.word.begin_wait(Ends::ByUnpark, Runner::Anybody).expect("no token");
        assert!(fiber.word.is_open(wait));
        canceller.join().unwrap();
        assert!(fiber.word.is_open(wait), "cancellation may not end it");
        // It leaves no token, either.
        let _ = fiber.word.end(wait, Cause::Event);
        assert!(fiber.word.begin_wait(Ends::ByUnpark, Runner::Anybody).is_some());
    });
}

#[test]
fn an_unpark_is_not_lost_to_a_cancel() {
    check(3, || {
        let fiber = Fiber::new();
        fiber.flag.raise();
        let other = fiber.clone();
        let unparker = thread::spawn(move || {
            let next = other.word.unpark();
            assert_eq!(next, WakeAction::Nothing, "it was never saved");
        });
        // The fiber begins a wait, sees the flag, and takes the wait back.
        let is_unparked = match fiber.word.begin_wait(Ends::UnparkOrCancel, Runner::Anybody) {
            None => true,
            Some(wait) => fiber.word.end(wait, Cause::Event).is_none() && fiber.word.cause() == Cause::Unpark,
        };
        unparker.join().unwrap();
        let is_kept = fiber.word.begin_wait(Ends::ByUnpark, Runner::Anybody).is_none();
        assert_ne!(is_unparked, is_kept, "it has ended this wait, or will end the next");
    });
}
