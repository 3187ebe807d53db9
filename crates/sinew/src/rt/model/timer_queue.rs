//! Model of a core that sleeps because of its timers, and a thread that arms an earlier one.

use loom::sync::{Arc, Notify};
use loom::thread;
use std::time::{Duration, Instant};

use crate::rt::model::check;
use crate::rt::timer::timer_queue::{TimerQueue, TimerRing};

/// The core sleeps as long as the queue says: for ever, since the only timer that it knows of is
/// far away. It wakes up from every sleep because of the bell, and sees the near timer in the end.
fn sleep_and_set(with_a_far_one: bool) {
    let start = Instant::now();
    let near = start + Duration::from_secs(1);
    let timers = Arc::new(TimerQueue::<_>::new(start));
    // It remembers a wake-up, as an eventfd does.
    let bell = Arc::new(Notify::new());
    if with_a_far_one {
        let mut held = timers.hold();
        held.set(start + Duration::from_secs(1_000_000), "far");
        let _ = held.release();
    }
    let setter = {
        let (timers, bell) = (timers.clone(), bell.clone());
        thread::spawn(move || {
            let mut held = timers.hold();
            held.set(near, "near");
            if held.release() == TimerRing::Now {
                bell.notify();
            }
        })
    };
    let mut seen = Vec::new();
    while seen.is_empty() {
        let time = timers.begin_sleep(|| start);
        // Moments within the hour are waited for by the clock, which loom does not have.
        if time.is_none_or(|time| time > Duration::from_secs(3_600)) {
            bell.wait();
        }
        timers.end_sleep(|| start);
        timers.fire(|| near + Duration::from_secs(1), |batch| seen.extend(batch.into_iter().flatten()));
    }
    assert_eq!(seen, ["near"]);
    setter.join().unwrap();
}

#[test]
fn an_earlier_timer_is_not_slept_through() {
    check(4, || sleep_and_set(false));
    check(4, || sleep_and_set(true));
}
