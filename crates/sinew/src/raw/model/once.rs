//! Something that is done once: by one, and whoever finds it done sees what that has left.

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

    /// Whether it was this one who did it.
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
fn one_of_two_does_it_and_both_see_it() {
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
fn whoever_finds_it_done_sees_it_without_a_wait() {
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

/// One fails: another one who ignores that does it again, one who does not hears of it.
#[test]
fn whoever_waits_hears_of_a_failure() {
    check(2, || {
        let site = Site::new();
        let (one, two) = (site.clone(), site.clone());
        let failing = thread::spawn(move || assert!(one.call(OnceEnd::Failed)));
        let waiting = thread::spawn(move || two.once.wait(OnceFailure::Counts, Limit::NEVER).unwrap());
        failing.join().unwrap();
        assert!(site.call(OnceEnd::Done));
        assert_eq!(site.value.get(), 2);
        // It may have seen the one or the other.
        assert!(waiting.join().unwrap() != OnceSeen::Reentered);
    });
}

#[test]
fn one_waits_for_whoever_does_it_after_a_failure() {
    check(2, || {
        let site = Site::new();
        let (one, two) = (site.clone(), site.clone());
        let failing = thread::spawn(move || one.call(OnceEnd::Failed));
        let waiting = thread::spawn(move || {
            assert_eq!(two.once.wait(OnceFailure::IsIgnored, Limit::NEVER).unwrap(), OnceSeen::Done);
            assert!(two.value.get() >= 1);
        });
        // After a failure it is done here; otherwise the other one has nothing to do.
        assert!(site.call(OnceEnd::Done));
        failing.join().unwrap();
        waiting.join().unwrap();
    });
}

/// One gives up at any moment of being woken; the other one is woken all the same.
#[test]
fn one_that_gives_up_takes_no_wake_up_along() {
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
