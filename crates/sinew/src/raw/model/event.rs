//! An event, and a wait for several: each set event is taken once, and no wake-up is lost.

use loom::sync::Arc;
use loom::thread;
use std::time::Instant;

use super::watched::Watched;
use crate::raw::{RawEvent, Reset, wait_any};
use crate::rt::model::check;
use crate::rt::{Limit, WaitKind};

struct Events {
    events: [RawEvent; 2],
    value: Watched,
}

impl Events {
    fn new(reset: Reset) -> Arc<Self> {
        Arc::new(Self { events: [RawEvent::new(reset), RawEvent::new(reset)], value: Watched::new() })
    }

    fn first(&self) -> &RawEvent {
        &self.events[0]
    }

    fn any(&self, limit: Limit) -> Option<usize> {
        wait_any(2, |index| &self.events[index], limit).ok()
    }

    /// Returns the number of events that are set.
    fn left(&self) -> usize {
        self.events.iter().filter(|event| event.try_wait()).count()
    }
}

#[test]
fn a_waiter_sees_the_effects_before_the_set() {
    for reset in [Reset::Auto, Reset::Manual] {
        check(3, move || {
            let events = Events::new(reset);
            let other = events.clone();
            let setter = thread::spawn(move || {
                other.value.add();
                other.first().set();
            });
            events.first().wait(WaitKind::Event, Limit::NEVER).unwrap();
            assert_eq!(events.value.get(), 1);
            setter.join().unwrap();
            assert_eq!(events.first().is_set(), reset == Reset::Manual);
        });
    }
}

/// Two callers wait for one event, one of them with a short limit. If it is in time, it passes the
/// event on.
#[test]
fn a_waiter_that_gives_up_keeps_no_wake_up() {
    check(2, || {
        let events = Events::new(Reset::Auto);
        let (one, two) = (events.clone(), events.clone());
        let hasty = thread::spawn(move || {
            if one.first().wait(WaitKind::Event, Limit::until(Some(Instant::now()))).is_ok() {
                one.first().set();
            }
        });
        let setter = thread::spawn(move || two.first().set());
        events.first().wait(WaitKind::Event, Limit::NEVER).unwrap();
        hasty.join().unwrap();
        setter.join().unwrap();
        assert_eq!(events.left(), 0);
    });
}

/// As above, but the waiter that came last is served first. The order does not matter: no waiter
/// waits for ever.
#[test]
fn the_last_waiter_keeps_no_wake_up_if_it_gives_up() {
    check(2, || {
        let events = Events::new(Reset::Auto);
        let (one, two) = (events.clone(), events.clone());
        let hasty = thread::spawn(move || {
            if one.first().wait(WaitKind::Event, Limit::until(Some(Instant::now()))).is_ok() {
                one.first().set_for_last();
            }
        });
        let setter = thread::spawn(move || two.first().set_for_last());
        events.first().wait(WaitKind::Event, Limit::NEVER).unwrap();
        hasty.join().unwrap();
        setter.join().unwrap();
        assert_eq!(events.left(), 0);
    });
}

/// Two events are set at once, and the waiter for both gives up at any moment: it takes one of them
/// or none.
#[test]
fn one_of_two_events_is_taken() {
    check(3, || {
        let events = Events::new(Reset::Auto);
        let setters = [0, 1].map(|index| {
            let events = events.clone();
            thread::spawn(move || events.events[index].set())
        });
        let taken = events.any(Limit::until(Some(Instant::now())));
        setters.into_iter().for_each(|setter| setter.join().unwrap());
        assert!(taken.is_none_or(|index| !events.events[index].is_set()));
        assert_eq!(events.left() + usize::from(taken.is_some()), 2);
    });
}

/// One caller waits for both events, and another for the first event. That event is set once for
/// each of them.
#[test]
fn a_late_wake_up_goes_to_the_next_waiter() {
    check(3, || {
        let events = Events::new(Reset::Auto);
        let (one, two) = (events.clone(), events.clone());
        let setter = thread::spawn(move || one.events.iter().for_each(RawEvent::set));
        let waiter = thread::spawn(move || two.first().wait(WaitKind::Event, Limit::NEVER).unwrap());
        if events.any(Limit::NEVER) == Some(0) {
            events.first().set();
        }
        waiter.join().unwrap();
        setter.join().unwrap();
    });
}

#[test]
fn an_event_that_is_waited_for_twice_is_taken_once() {
    check(3, || {
        let events = Events::new(Reset::Auto);
        let other = events.clone();
        let setter = thread::spawn(move || (0..2).for_each(|_| other.first().set()));
        let any = || wait_any(2, |_| events.first(), Limit::NEVER).unwrap();
        any();
        setter.join().unwrap();
        // The second `set` came after the first was taken, or before.
        if events.left() == 0 {
            events.first().set();
            any();
        }
        assert_eq!(events.left(), 0);
    });
}

/// A waiter that was woken resets the event and waits again, while the setter still wakes other
/// waiters.
#[test]
fn a_waiter_that_waits_again_is_not_woken_by_the_old_set() {
    check(3, || {
        let events = Events::new(Reset::Manual);
        let (one, two) = (events.clone(), events.clone());
        let hasty = thread::spawn(move || {
            one.first().wait(WaitKind::Event, Limit::until(Some(Instant::now()))).is_ok()
        });
        let setter = thread::spawn(move || two.first().set());
        events.first().wait(WaitKind::Event, Limit::NEVER).unwrap();
        events.first().reset();
        assert!(events.first().wait(WaitKind::Event, Limit::until(Some(Instant::now()))).is_err());
        let _ = hasty.join().unwrap();
        setter.join().unwrap();
    });
}
