//! Events.

use super::super::crowd::{Crowd, in_crowds};
use super::super::support::{Random, everywhere, message, pinned, refused};
use sinew::fiber;
use sinew::sync::Event;
use std::panic::{RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Sets an event `times` times, each of which counts: no other fiber or thread sets it.
fn set_often(event: &Event, times: usize) {
    for _ in 0..times {
        while event.is_set() {
            fiber::yield_now();
        }
        event.set();
    }
}

/// A fiber waits when its runtime ends without it. A signal that comes after that is for other
/// waiters.
#[test]
fn one_that_was_abandoned_takes_no_signal_along() {
    let mut runtime = pinned(1);
    let event = Arc::new(Event::auto());
    let copy = event.clone();
    let waits = runtime.spawn(move || copy.wait());
    while waits.thread().state() != fiber::State::Parked {
        std::thread::yield_now();
    }
    let report = runtime.take().shutdown(Some(Duration::from_millis(5)));
    assert_eq!(report.leaked.len(), 1, "{report:?}");
    event.set();
    assert!(event.try_wait());
}

#[test]
fn one_goes_on_each_time_it_is_set() {
    in_crowds(|crowd| {
        let (event, over) = (Arc::new(Event::auto()), Arc::new(AtomicUsize::new(0)));
        let copy = event.clone();
        let counts = crowd.all(6, move |number| match number {
            0 => {
                set_often(&copy, 100);
                over.fetch_add(1, Ordering::Relaxed);
                let mut times = 100;
                while over.load(Ordering::Relaxed) < 4 {
                    set_often(&copy, 1);
                    times += 1;
                }
                (times, 0)
            }
            1..4 => {
                let mut taken = 0;
                while over.load(Ordering::Relaxed) == 0 {
                    copy.wait();
                    taken += 1;
                }
                over.fetch_add(1, Ordering::Relaxed);
                // The others may all be done, and the one who sets it waits for it to be taken.
                (0, taken + usize::from(copy.try_wait()))
            }
            _ => (0, (0..30).filter(|round| copy.wait_timeout(Duration::from_micros(*round))).count()),
        });
        let (times, taken) = counts.into_iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        assert_eq!(times, taken + usize::from(event.is_set()));
    });
}

/// What is set is taken by those who wait for one event or for any of several, with and without
/// limits; none is lost, and none taken twice.
#[test]
fn each_that_is_set_is_taken_once() {
    const EVENTS: usize = 3;
    const TIMES: usize = 40;
    in_crowds(|crowd: Crowd| {
        let events = Arc::new([(); EVENTS].map(|()| Event::auto()));
        let (taken, over) =
            (Arc::new([(); EVENTS].map(|()| AtomicUsize::new(0))), Arc::new(AtomicBool::new(false)));
        let takers: Vec<_> = (0..4)
            .map(|number| {
                let (events, taken, over) = (events.clone(), taken.clone(), over.clone());
                crowd.spawn(number, move || {
                    let mut random = Random::new(number as u64 + 7);
                    while !over.load(Ordering::Relaxed) {
                        let (first, time) =
                            (random.below(3) as usize, Duration::from_micros(random.below(200)));
                        let order = [first, (first + 1) % EVENTS, (first + 2) % EVENTS, first];
                        let those = order.map(|index| &events[index]);
                        let index = match random.below(3) {
                            0 => events[first].wait_timeout(time).then_some(0),
                            1 => Event::wait_any_timeout(&those[..2], time),
                            _ => Event::wait_any_until(&those, Instant::now() + time),
                        };
                        index.map(|index| taken[order[index]].fetch_add(1, Ordering::Relaxed));
                    }
                })
            })
            .collect();
        let copy = events.clone();
        crowd.all(EVENTS, move |number| set_often(&copy[number], TIMES));
        while events.iter().any(Event::is_set) {
            fiber::yield_now();
        }
        over.store(true, Ordering::Relaxed);
        takers.into_iter().for_each(|taker| taker.join());
        assert_eq!(
            taken.iter().map(|taken| taken.load(Ordering::Relaxed)).collect::<Vec<_>>(),
            [TIMES; EVENTS]
        );
    });
}

#[test]
fn any_of_many_ends_a_wait() {
    in_crowds(|crowd| {
        for (many, which) in [(1, 0), (2, 1), (8, 3), (9, 8), (40, 17)] {
            let events: Arc<Vec<_>> = Arc::new(
                (0..many).map(|at| if at % 2 == 0 { Event::auto() } else { Event::manual() }).collect(),
            );
            let copy = events.clone();
            let waits = crowd.spawn(1, move || Event::wait_any(&copy.iter().collect::<Vec<_>>()));
            (0..which % 3).for_each(|_| fiber::yield_now());
            events[which].set();
            assert_eq!(waits.join(), which);
            assert_eq!(events[which].is_set(), which % 2 == 1);
            assert_eq!(events.iter().filter(|event| event.is_set()).count(), which % 2);
        }
    });
}

#[test]
fn of_several_that_are_set_the_first_is_taken() {
    let events = [Event::auto(), Event::manual(), Event::auto()];
    let all = [&events[0], &events[1], &events[2]];
    events.iter().for_each(Event::set);
    assert_eq!(Event::wait_any(&all), 0);
    assert_eq!(Event::wait_any_timeout(&all, Duration::ZERO), Some(1));
    assert_eq!(Event::try_wait_any(&all), Some(1));
    events[1].reset();
    assert_eq!(Event::wait_any_until(&all, Instant::now()), Some(2));
    assert_eq!(Event::wait_any_timeout(&all, Duration::ZERO), None);
    assert_eq!(Event::try_wait_any(&all), None);
    assert_eq!(Event::try_wait_any(&[]), None);
    let panic = catch_unwind(|| Event::wait_any(&[])).unwrap_err();
    assert!(message(&*panic).contains("at least one event"), "{}", message(&*panic));
    // The same one twice.
    let twice = [&events[0], &events[0]];
    assert_eq!(Event::wait_any_timeout(&twice, Duration::from_micros(100)), None);
    events[0].set();
    assert_eq!((Event::wait_any(&twice), Event::try_wait_any(&twice)), (0, None));
}

#[test]
fn all_go_on_for_as_long_as_it_is_set() {
    in_crowds(|crowd| {
        let event = Arc::new(Event::manual());
        let copy = event.clone();
        let members: Vec<_> = (0..20)
            .map(|number| {
                let event = copy.clone();
                crowd.spawn(number, move || {
                    if number % 2 == 0 {
                        event.wait()
                    } else {
                        Event::wait_any(&[&event]);
                    }
                })
            })
            .collect();
        fiber::yield_now();
        event.set();
        event.set();
        members.into_iter().for_each(|member| member.join());
        assert!(event.is_set() && event.try_wait() && event.wait_timeout(Duration::ZERO));
        event.reset();
        assert!(!event.is_set() && !event.try_wait() && !event.wait_until(Instant::now()));
    });
}

#[test]
fn a_wait_ends_at_its_time() {
    in_crowds(|crowd| {
        let event = Arc::new(Event::auto());
        let copy = event.clone();
        crowd.all(4, move |number| {
            assert!(!match number {
                0 => copy.wait_timeout(Duration::ZERO),
                1 => copy.wait_timeout(Duration::from_micros(200)),
                2 => copy.wait_until(Instant::now()),
                _ => Event::wait_any_until(&[&copy], Instant::now() + Duration::from_millis(1)).is_some(),
            });
        });
        let copy = event.clone();
        let patient = crowd.spawn(1, move || {
            copy.wait_timeout(Duration::MAX) && Event::wait_any_timeout(&[&copy], Duration::MAX) == Some(0)
        });
        set_often(&event, 1);
        set_often(&event, 1);
        // The first one may have met a waiter, and so may the second.
        while !patient.is_finished() && event.is_set() {
            fiber::yield_now();
        }
        assert!(patient.join() && !event.is_set());
    });
}

/// A fiber is cancelled while an event is handed to it: it has it, or the event is still set.
#[test]
fn a_cancel_that_meets_the_hand_over_loses_nothing() {
    everywhere(|| {
        for round in 0..100 {
            let events = Arc::new([Event::auto(), Event::auto()]);
            let copy = events.clone();
            let waits = Arc::new(fiber::spawn(move || match round % 2 {
                0 => copy[0].wait_cancellable().map(|()| 0),
                _ => Event::wait_any_cancellable(&[&copy[0], &copy[1]]),
            }));
            (0..round % 3).for_each(|_| fiber::yield_now());
            let copy = waits.clone();
            let canceller = fiber::spawn(move || copy.cancel());
            events.iter().for_each(Event::set);
            canceller.join().unwrap();
            let left = match Arc::into_inner(waits).unwrap().join().unwrap() {
                Ok(index) => {
                    assert!(!events[index].is_set());
                    1
                }
                Err(stopped) => {
                    assert!(stopped.is_cancelled());
                    2
                }
            };
            assert_eq!(events.iter().filter(|event| event.try_wait()).count(), left);
        }
    });
}

#[test]
fn a_wait_inside_no_suspend_panics_and_leaves_no_trace() {
    let runtime = pinned(1);
    runtime.run(|| {
        let event = Event::auto();
        let waits: [&dyn Fn(); 2] = [&|| event.wait(), &|| assert_eq!(Event::wait_any(&[&event, &event]), 0)];
        for wait in waits {
            refused(wait);
            fiber::no_suspend(|| event.set());
            assert!(event.is_set());
            fiber::no_suspend(wait);
        }
    });
}

#[test]
fn its_traits_are_as_they_should_be() {
    static EVENT: Event = Event::auto();
    fn is_free<T: UnwindSafe + RefUnwindSafe + Send + Sync>() {}
    is_free::<Event>();
    std::thread::spawn(|| EVENT.set());
    EVENT.wait();
    assert_eq!(format!("{EVENT:?}"), "Event { reset: Auto, is_set: false }");
}
