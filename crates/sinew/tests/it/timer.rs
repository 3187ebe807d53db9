//! Timers that call back.

use super::support::{everywhere, refused};
use sinew::fiber;
use sinew::time::{self, CancelError, MissedTicks, Schedule, Timer, TimerId};
use std::collections::HashSet;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_hours(1);

/// Something to wait for and to count by, on fibers and threads alike.
#[derive(Clone, Default)]
pub(super) struct Count(Arc<AtomicU32>);

impl Count {
    pub(super) fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn get(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }

    pub(super) fn wait_for(&self, count: u32) {
        wait_until(|| self.get() >= count);
    }
}

pub(super) fn wait_until(is_so: impl Fn() -> bool) {
    while !is_so() {
        fiber::sleep(Duration::from_micros(100));
    }
}

/// Counts when it is dropped.
struct Dropped(Count);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.add();
    }
}

/// On fibers of all kinds, and on a plain thread.
pub(super) fn anywhere(body: impl Fn() + Send + Sync + Clone + 'static) {
    everywhere(body.clone());
    body();
}

/// A callback that has begun, and ends when it is told to.
#[derive(Clone, Default)]
pub(super) struct Gate {
    pub(super) begun: Count,
    is_open: Arc<AtomicBool>,
    pub(super) ended: Count,
}

impl Gate {
    pub(super) fn pass(&self) {
        self.begun.add();
        wait_until(|| self.is_open.load(Ordering::SeqCst));
        self.ended.add();
    }

    pub(super) fn open(&self) {
        self.is_open.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_callback_comes_once_in_time_on_a_fiber_of_its_own() {
    anywhere(|| {
        let caller = fiber::current().id();
        for micros in [0, 1, 50, 1_500] {
            let (calls, time, begun) = (Count::default(), Duration::from_micros(micros), Instant::now());
            let copy = calls.clone();
            let timer = time::after(time, move || {
                assert!(begun.elapsed() >= time);
                assert!(fiber::is_fiber() && fiber::current().id() != caller);
                copy.add();
            });
            calls.wait_for(1);
            wait_until(|| !timer.is_armed());
            assert!(!timer.cancel());
            assert_eq!(timer.cancel_and_wait(), Ok(false));
            assert_eq!(calls.get(), 1);
        }
    });
}

#[test]
fn the_past_is_due_at_once_and_never_inside_the_call() {
    everywhere(|| {
        let calls = Count::default();
        let now = Instant::now();
        let guard = Arc::new(Mutex::new(()));
        let copies = [now, now - Duration::from_secs(1), now - HOUR].map(|when| {
            let (calls, guard) = (calls.clone(), guard.clone());
            // The callback would wait for this fiber for ever if it were called in here: the fiber
            // lets no other fiber run before it unlocks.
            let held = guard.clone();
            let held = held.lock().unwrap();
            let timer = time::at(when, move || {
                drop(guard.lock().unwrap());
                calls.add();
            });
            drop(held);
            timer
        });
        calls.wait_for(3);
        drop(copies);
    });
}

#[test]
fn what_lies_beyond_the_clock_never_comes() {
    anywhere(|| {
        let drops = Count::default();
        let held = [Dropped(drops.clone()), Dropped(drops.clone()), Dropped(drops.clone())];
        let [first, second, third] = held;
        let timer = time::after(Duration::MAX, move || drop(first));
        assert!(timer.is_armed());
        assert!(timer.cancel());
        assert!(!timer.cancel());
        drop(timer);
        assert_eq!(drops.get(), 1);
        drop(time::every(Duration::MAX, move || assert_eq!(second.0.get(), 0)));
        assert_eq!(drops.get(), 2);
        // No handle is left to cancel the timer, so nothing is kept for it.
        time::after(Duration::MAX, move || drop(third)).detach();
        assert_eq!(drops.get(), 3);
    });
}

#[test]
#[should_panic(expected = "a period of zero")]
fn a_period_of_zero_is_refused() {
    let _ = time::every(Duration::ZERO, || ());
}

#[test]
fn cancelling_and_dropping_keep_it_from_being_called() {
    anywhere(|| {
        let drops = Count::default();
        let timer = |drops: &Count| {
            let held = Dropped(drops.clone());
            time::after(HOUR, move || panic!("{} came", held.0.get()))
        };
        let (first, second) = (timer(&drops), timer(&drops));
        assert!(first.is_armed());
        assert!(first.cancel());
        assert!(!first.is_armed() && !first.cancel());
        assert_eq!(second.cancel_and_wait(), Ok(true));
        drop((first, second));
        assert_eq!(drops.get(), 2);
        drop(timer(&drops));
        assert_eq!(drops.get(), 3);
    });
}

#[test]
fn a_detached_one_goes_on() {
    anywhere(|| {
        let (calls, drops) = (Count::default(), Count::default());
        let (copy, held) = (calls.clone(), Dropped(drops.clone()));
        time::after(Duration::from_micros(200), move || {
            copy.add();
            drop(held);
        })
        .detach();
        calls.wait_for(1);
        drops.wait_for(1);
    });
}

#[test]
fn a_periodic_one_ends_itself_by_its_name() {
    anywhere(|| {
        let (calls, drops) = (Count::default(), Count::default());
        let (copy, held) = (calls.clone(), Dropped(drops.clone()));
        let timer = Timer::with_id(move |id| {
            copy.add();
            if copy.get() == 5 {
                assert!(id.cancel(), "there was a next tick");
                assert!(!id.cancel(), "{}", held.0.get());
            }
        });
        let id = timer.id();
        timer.arm(Schedule::every(Duration::from_micros(100)));
        timer.detach();
        drops.wait_for(1);
        assert_eq!(calls.get(), 5);
        assert!(!id.cancel());
    });
}

#[test]
fn names_tell_timers_apart() {
    let timers: Vec<_> = (0..100).map(|_| Timer::new(|| ())).collect();
    let names: HashSet<TimerId> = timers.iter().map(Timer::id).collect();
    assert_eq!(names.len(), 100);
    assert!(timers.iter().all(|timer| names.contains(&timer.id())));
    fn is_shared<T: Send + Sync + Clone + std::fmt::Debug>(_: &T) {}
    names.iter().for_each(is_shared);
}

#[test]
fn arming_replaces_the_schedule() {
    anywhere(|| {
        let calls = Count::default();
        let copy = calls.clone();
        let timer = Timer::new(move || copy.add());
        assert!(!timer.is_armed());
        timer.arm(Schedule::after(HOUR));
        timer.arm(Schedule::after(Duration::ZERO));
        calls.wait_for(1);
        for round in 2..20 {
            timer.arm(Schedule::at(Instant::now() + HOUR));
            timer.arm(Schedule::after(Duration::from_micros(10)));
            calls.wait_for(round);
        }
        timer.arm(Schedule::every(HOUR).first_at(Instant::now()));
        calls.wait_for(20);
        wait_until(|| timer.is_armed());
        assert!(timer.cancel());
    });
}

#[test]
fn what_is_armed_while_the_callback_runs_comes_after_it() {
    anywhere(|| {
        let gate = Gate::default();
        let copy = gate.clone();
        let timer = Timer::new(move || {
            assert_eq!(copy.begun.get(), copy.ended.get(), "callbacks never overlap");
            copy.pass();
        });
        timer.arm(Schedule::after(Duration::ZERO));
        gate.begun.wait_for(1);
        timer.arm(Schedule::after(Duration::ZERO));
        assert!(timer.is_armed());
        gate.open();
        gate.ended.wait_for(2);
        timer.cancel_and_wait().unwrap();
        assert_eq!(gate.begun.get(), 2);
    });
}

#[test]
fn a_cancel_that_must_not_wait_cancels_nothing() {
    everywhere(|| {
        let gate = Gate::default();
        let copy = gate.clone();
        let timer = time::every(Duration::from_micros(1), move || copy.pass());
        gate.begun.wait_for(1);
        // That this compiles is half of it: a timer is unwind safe.
        catch_unwind(|| refused(|| timer.cancel_and_wait())).unwrap();
        assert!(timer.is_armed());
        gate.open();
        gate.begun.wait_for(2);
        assert_eq!(timer.cancel_and_wait(), Ok(true));
        assert_eq!(fiber::no_suspend(|| timer.cancel_and_wait()), Ok(false));
    });
}

#[test]
fn cancel_and_wait_waits_for_a_callback_that_runs() {
    anywhere(|| {
        let gate = Gate::default();
        let copy = gate.clone();
        let timer = Arc::new(time::every(Duration::from_micros(1), move || copy.pass()));
        gate.begun.wait_for(1);
        assert_eq!(timer.cancel_and_wait_timeout(Duration::from_micros(10)), Err(CancelError::TimedOut));
        // As many as like to, on fibers and threads, while it is being cancelled.
        let fibers: Vec<_> = (0..4)
            .map(|_| {
                let (timer, ended) = (timer.clone(), gate.ended.clone());
                let wait = move || {
                    assert_eq!(timer.cancel_and_wait(), Ok(false));
                    assert_eq!(ended.get(), 1);
                };
                (fiber::spawn(wait.clone()), std::thread::spawn(wait))
            })
            .collect();
        gate.open();
        assert_eq!(timer.cancel_and_wait(), Ok(false));
        assert_eq!(gate.ended.get(), 1);
        for (fiber, thread) in fibers {
            fiber.join().unwrap();
            wait_until(|| thread.is_finished());
            thread.join().unwrap();
        }
        assert_eq!((gate.begun.get(), gate.ended.get()), (1, 1));
    });
}

#[test]
fn a_callback_cannot_wait_for_its_own_end() {
    anywhere(|| {
        let (result, place) = (Arc::new(Mutex::new(None)), Arc::new(Mutex::new(None::<Timer>)));
        let (copy, own) = (result.clone(), place.clone());
        let timer = Timer::new(move || {
            let timer = own.lock().unwrap().take().expect("it was put there");
            let outcome = timer.cancel_and_wait();
            *copy.lock().unwrap() = Some((outcome, timer.is_armed()));
        });
        let mut slot = place.lock().unwrap();
        slot.insert(timer).arm(Schedule::every(Duration::from_micros(1)));
        drop(slot);
        wait_until(|| result.lock().unwrap().is_some());
        let (outcome, is_armed) = result.lock().unwrap().take().unwrap();
        let error = outcome.unwrap_err();
        assert_eq!(error, CancelError::InCallback);
        assert!(error.to_string().contains("call `cancel`"), "{error}");
        assert!(!is_armed, "it is cancelled all the same");
    });
}

/// The guard of the callback's own state is dropped inside it: nothing is left, and nothing waits.
#[test]
fn a_callback_may_drop_its_own_timer() {
    anywhere(|| {
        let (drops, place) = (Count::default(), Arc::new(Mutex::new(None::<Timer>)));
        let (held, own) = (Dropped(drops.clone()), place.clone());
        let timer = Timer::new(move || {
            assert_eq!(held.0.get(), 0);
            drop(own.lock().unwrap().take());
        });
        let mut slot = place.lock().unwrap();
        slot.insert(timer).arm(Schedule::every(Duration::from_micros(50)));
        drop(slot);
        drops.wait_for(1);
    });
}

#[test]
fn ticks_do_not_drift_and_missed_ones_are_dealt_with() {
    anywhere(|| {
        let period = Duration::from_micros(500);
        let run = |missed, ticks: u32, held_up: Duration| {
            let (moments, start) = (Arc::new(Mutex::new(Vec::new())), Instant::now());
            let copy = moments.clone();
            let timer = Timer::with_id(move |id| {
                let mut moments = copy.lock().unwrap();
                moments.push(Instant::now());
                let count = moments.len() as u32;
                drop(moments);
                if count == 1 {
                    fiber::sleep(held_up);
                } else if count == ticks {
                    id.cancel();
                }
            });
            timer.arm(Schedule::every(period).first_at(start).missed(missed));
            wait_until(|| !timer.is_armed());
            timer.cancel_and_wait().unwrap();
            assert_eq!(moments.lock().unwrap().len() as u32, ticks);
            let since: Vec<_> = moments.lock().unwrap().iter().map(|moment| *moment - start).collect();
            since
        };
        // Never before its multiple of the period, however late others were.
        let burst = run(MissedTicks::Burst, 10, 5 * period);
        assert!((0_u32..).zip(&burst).all(|(number, since)| *since >= number * period), "{burst:?}");
        // Those that passed during the first one are left out.
        let skip = run(MissedTicks::Skip, 4, 5 * period);
        assert!((6_u32..).zip(&skip[1..]).all(|(number, since)| *since >= number * period), "{skip:?}");
        let delay = run(MissedTicks::Delay, 4, 5 * period);
        assert!((6_u32..).zip(&delay[1..]).all(|(number, since)| *since >= number * period), "{delay:?}");
    });
}

/// A caller that arms the timer again learns whether it did so before the callback began.
#[test]
fn arming_tells_whether_it_was_armed() {
    everywhere(|| {
        let (begun, go_on) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let flags = (begun.clone(), go_on.clone());
        let timer = Timer::new(move || {
            flags.0.store(true, Ordering::SeqCst);
            while !flags.1.load(Ordering::SeqCst) {
                fiber::yield_now();
            }
        });
        let hour = Schedule::after(Duration::from_secs(3_600));
        assert!(!timer.arm(hour));
        assert!(timer.arm(Schedule::after(Duration::MAX)));
        assert!(timer.arm(Schedule::after(Duration::ZERO)));
        while !begun.load(Ordering::SeqCst) {
            fiber::yield_now();
        }
        assert!(!timer.arm(hour), "its callback runs, and nothing was to come after that");
        assert!(timer.arm(hour));
        go_on.store(true, Ordering::SeqCst);
        assert!(timer.cancel_and_wait().unwrap());
    });
}
