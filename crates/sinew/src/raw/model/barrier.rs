//! A barrier: no participant continues before all have arrived and the completion has run, and then
//! all do.

use loom::sync::Arc;
use loom::thread;
use std::time::Instant;

use super::watched::Watched;
use crate::raw::{Completion, OnceEnd, RawBarrier};
use crate::rt::Limit;
use crate::rt::model::check;

struct Place {
    barrier: RawBarrier,
    values: [Watched; 2],
}

impl Place {
    fn new(expected: usize, completion: Completion) -> Arc<Self> {
        let values = [Watched::new(), Watched::new()];
        Arc::new(Self { barrier: RawBarrier::new(expected, completion), values })
    }

    /// Arrives and waits. Returns whether this was the last arrival, or `None` if the wait gave up.
    fn meet(&self, limit: Limit, complete: impl FnOnce()) -> Option<bool> {
        let arrival = self.barrier.arrive_and_wait(limit).unwrap().ok()?;
        if arrival.is_last() {
            complete();
            self.barrier.end(OnceEnd::Done);
        }
        Some(arrival.is_last())
    }
}

/// Each participant writes its own value, and reads the other's in the next phase.
#[test]
fn effects_before_the_barrier_are_visible_after_it() {
    check(2, || {
        let place = Place::new(2, Completion::Nothing);
        let steps = |place: &Place, mine: usize| {
            place.values[mine].add();
            let first = place.meet(Limit::NEVER, || ());
            assert_eq!(place.values[1 - mine].get(), 1);
            let second = place.meet(Limit::NEVER, || ());
            place.values[mine].add();
            (first, second)
        };
        let other = place.clone();
        let member = thread::spawn(move || steps(&other, 1));
        let mine = steps(&place, 0);
        let theirs = member.join().unwrap();
        // Each phase has one leader.
        assert!(mine.0 != theirs.0 && mine.1 != theirs.1);
    });
}

#[test]
fn the_completion_runs_before_any_participant_continues() {
    check(2, || {
        let place = Place::new(3, Completion::ByLast);
        let step = |place: &Place| {
            let is_last = place.meet(Limit::NEVER, || place.values[0].add());
            assert_eq!(place.values[0].get(), 1);
            is_last
        };
        let members = [(); 2].map(|()| {
            let place = place.clone();
            thread::spawn(move || step(&place))
        });
        let mine = step(&place);
        let leaders = members.map(|member| member.join().unwrap()).into_iter().chain([mine]);
        assert_eq!(leaders.filter(|is_last| *is_last == Some(true)).count(), 1);
    });
}

/// One participant gives up at any moment. Either it has arrived, or it has not, and another can
/// arrive instead.
#[test]
fn a_participant_that_gives_up_has_not_arrived() {
    check(2, || {
        let place = Place::new(2, Completion::ByLast);
        let (one, two) = (place.clone(), place.clone());
        let meets = |place: &Place, limit| {
            let has_met = place.meet(limit, || place.values[0].add()).is_some();
            // A participant that has met the other has waited for the completion too, even if its
            // limit was reached.
            assert!(!has_met || place.values[0].get() == 1);
            has_met
        };
        let hasty = thread::spawn(move || meets(&one, Limit::until(Some(Instant::now()))));
        let patient = thread::spawn(move || meets(&two, Limit::NEVER));
        if !hasty.join().unwrap() {
            meets(&place, Limit::NEVER);
        }
        patient.join().unwrap();
        assert_eq!(place.values[0].get(), 1);
        // Its arrival is gone: the next phase needs two participants.
        assert!(place.meet(Limit::until(Some(Instant::now())), || ()).is_none());
    });
}

/// One participant leaves for good while the other waits.
#[test]
fn a_participant_that_leaves_counts_once() {
    check(3, || {
        let place = Place::new(2, Completion::Nothing);
        let other = place.clone();
        let leaver = thread::spawn(move || {
            other.values[0].add();
            if other.barrier.arrive_and_drop().unwrap().is_last() {
                other.barrier.end(OnceEnd::Done);
            }
        });
        place.meet(Limit::NEVER, || ());
        assert_eq!(place.values[0].get(), 1);
        leaver.join().unwrap();
        assert_eq!(place.meet(Limit::NEVER, || ()), Some(true));
    });
}
