//! A one-time initialisation: one caller runs it, and a caller that finds it done sees its effects.

use loom::sync::Arc;
use loom::thread;
use std::time::Instant;

use super::watched::Watched;
use crate::raw::{OnceBegun, OnceEnd, OnceFailure, OnceSeen, RawOnce};
use crate::rt::Limit;
use crate::rt::model::check;

struct Site {
    once: RawOnce,
    value: Watched,
}

impl Site {
    fn new() -> Arc<Self> {
        Arc::new(Self { once: RawOnce::new(), value: Watched::new() })
    }

    /// Returns whether this caller ran it.
    fn call(&self, end: OnceEnd) -> bool {
        let begun = self.once.begin(OnceFailure::IsIgnored);
        if let OnceBegun::Run { .. } = begun {
            self.value.add();
            assert_eq!(self.once.begin(OnceFailure::IsIgnored), OnceBegun::Reentered);
            self.once.end(end);
        }
        begun != OnceBegun::Done
    }
}

#[test]
fn one_of_two_callers_runs_it_and_both_see_it() {
    check(3, || {
        let site = Site::new();
        let other = site.clone();
        let caller = thread::spawn(move || {
            let mine = other.call(OnceEnd::Done);
            assert_eq!(other.value.get(), 1);
            mine
        });
        let mine = site.call(OnceEnd::Done);
        assert_eq!(site.value.get(), 1);
        assert!(mine != caller.join().unwrap());
    });
}

#[test]
fn a_caller_that_finds_it_done_sees_its_effects() {
    check(3, || {
        let site = Site::new();
        let other = site.clone();
        let caller = thread::spawn(move || other.call(OnceEnd::Done));
        while !site.once.is_done() {
            thread::yield_now();
        }
        assert_eq!(site.value.get(), 1);
        assert!(caller.join().unwrap());
    });
}

/// One run fails. A caller that ignores the failure runs it again; a caller that does not learns of
/// it.
#[test]
fn a_waiter_learns_of_a_failure() {
    check(2, || {
        let site = Site::new();
        let (one, two) = (site.clone(), site.clone());
        let failing = thread::spawn(move || assert!(one.call(OnceEnd::Failed)));
        let waiting = thread::spawn(move || two.once.wait(OnceFailure::Counts, Limit::NEVER).unwrap());
        failing.join().unwrap();
        assert!(site.call(OnceEnd::Done));
        assert_eq!(site.value.get(), 2);
        // The waiter may have seen either of the two ends.
        assert!(waiting.join().unwrap() != OnceSeen::Reentered);
    });
}

#[test]
fn a_waiter_waits_for_the_run_after_a_failure() {
    check(2, || {
        let site = Site::new();
        let (one, two) = (site.clone(), site.clone());
        let failing = thread::spawn(move || one.call(OnceEnd::Failed));
        let waiting = thread::spawn(move || {
            assert_eq!(two.once.wait(OnceFailure::IsIgnored, Limit::NEVER).unwrap(), OnceSeen::Done);
            assert!(two.value.get() >= 1);
        });
        // After a failure, this caller runs it; otherwise the other one has nothing to do.
        assert!(site.call(OnceEnd::Done));
        failing.join().unwrap();
        waiting.join().unwrap();
    });
}

/// One waiter gives up at any moment of its wake-up. The other is woken nevertheless.
#[test]
fn a_waiter_that_gives_up_keeps_no_wake_up() {
    check(2, || {
        let site = Site::new();
        let (one, two) = (site.clone(), site.clone());
        let hasty = thread::spawn(move || {
            let _ = one.once.wait(OnceFailure::Counts, Limit::until(Some(Instant::now())));
        });
        let patient = thread::spawn(move || {
            assert_eq!(two.once.wait(OnceFailure::Counts, Limit::NEVER).unwrap(), OnceSeen::Done);
            assert_eq!(two.value.get(), 1);
        });
        assert!(site.call(OnceEnd::Done));
        hasty.join().unwrap();
        patient.join().unwrap();
    });
}
