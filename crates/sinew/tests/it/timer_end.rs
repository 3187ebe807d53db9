//! Timers that call back, when their runtime ends.

use super::support::{in_child, in_each, is_emulated, stderr};
use sinew::time::{self, CancelError, Schedule, Timer};
use sinew::{Runtime, fiber};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_hours(1);

/// Counts when it is dropped; sleeps before that, if it is to.
struct Dropped(Arc<AtomicU32>, Option<Duration>);

impl Drop for Dropped {
    fn drop(&mut self) {
        if let Some(time) = self.1 {
            fiber::sleep(time);
        }
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn count() -> Arc<AtomicU32> {
    Arc::default()
}

fn get(count: &AtomicU32) -> u32 {
    count.load(Ordering::SeqCst)
}

fn wait_until(is_so: impl Fn() -> bool) {
    while !is_so() {
        fiber::sleep(Duration::from_micros(100));
    }
}

/// Runtimes of all kinds, each given to `body`.
fn everywhere(body: impl Fn(Runtime)) {
    in_each(&[&[1], &[2], &[8]], body);
}

#[test]
fn a_shutdown_waits_for_no_timer_and_drops_them() {
    everywhere(|runtime| {
        let (calls, drops) = (count(), count());
        let (copy, held) = (calls.clone(), drops.clone());
        let timers = runtime.run(move || {
            let timer = |time| {
                let (calls, held) = (copy.clone(), Dropped(held.clone(), None));
                time::every(time, move || {
                    calls.fetch_add(1, Ordering::SeqCst);
                    assert!(get(&held.0) < 100);
                })
            };
            (0..50).for_each(|_| timer(HOUR).detach());
            (0..50).map(|_| timer(HOUR)).collect::<Vec<_>>()
        });
        assert!(runtime.shutdown(None).drained);
        assert_eq!((get(&calls), get(&drops)), (0, 50));
        // Nothing is left to cancel, and nothing to wait for; arming changes nothing.
        for timer in &timers {
            assert!(!timer.cancel());
            timer.arm(Schedule::after(Duration::ZERO));
            assert!(!timer.is_armed());
            assert_eq!(timer.cancel_and_wait(), Ok(false));
        }
        let ids: Vec<_> = timers.iter().map(Timer::id).collect();
        drop(timers);
        assert!(ids.iter().all(|id| !id.cancel()));
        assert_eq!((get(&calls), get(&drops)), (0, 100));
    });
}

#[test]
fn nobody_is_called_once_a_shutdown_has_begun() {
    everywhere(|runtime| {
        let (calls, drops) = (count(), count());
        let (copy, held, gate) = (calls.clone(), drops.clone(), count());
        let has_begun = gate.clone();
        runtime.spawn(move || {
            let timers: Vec<_> = (0..20)
                .map(|_| {
                    let (calls, held) = (copy.clone(), Dropped(held.clone(), None));
                    Timer::new(move || {
                        calls.fetch_add(1, Ordering::SeqCst);
                        assert!(get(&held.0) < 20);
                    })
                })
                .collect();
            has_begun.fetch_add(1, Ordering::SeqCst);
            // Refused from now on.
            wait_until(|| fiber::try_spawn(|| ()).is_err());
            assert!(timers.iter().all(|timer| !timer.arm(Schedule::after(Duration::ZERO))));
            // They have been due, and have come to nothing.
            wait_until(|| timers.iter().all(|timer| !timer.is_armed()));
            timers.into_iter().for_each(Timer::detach);
        });
        wait_until(|| get(&gate) == 1);
        assert!(runtime.shutdown(None).drained);
        assert_eq!((get(&calls), get(&drops)), (0, 20));
    });
}

/// The destructor of a timer may take long. The fibers of the worker whose callback was refused
/// must not wait for it.
#[test]
fn timers_of_refused_callbacks_are_dropped_by_the_thread_that_shuts_down() {
    struct Noted(Arc<Mutex<Vec<ThreadId>>>);
    impl Drop for Noted {
        fn drop(&mut self) {
            self.0.lock().unwrap().push(thread::current().id());
        }
    }
    everywhere(|runtime| {
        let (droppers, has_begun) = (Arc::new(Mutex::new(Vec::new())), count());
        let (notes, begins) = (droppers.clone(), has_begun.clone());
        let fiber = runtime.spawn(move || {
            let timers: Vec<_> = (0..20)
                .map(|_| {
                    let noted = Noted(notes.clone());
                    Timer::new(move || unreachable!("{} were dropped", noted.0.lock().unwrap().len()))
                })
                .collect();
            begins.fetch_add(1, Ordering::SeqCst);
            wait_until(|| fiber::try_spawn(|| ()).is_err());
            timers.iter().for_each(|timer| assert!(!timer.arm(Schedule::after(Duration::ZERO))));
            wait_until(|| timers.iter().all(|timer| !timer.is_armed()));
            // Only the runtime has them from now on.
            drop(timers);
            notes.lock().unwrap().len()
        });
        wait_until(|| get(&has_begun) == 1);
        assert!(runtime.shutdown(None).drained);
        assert_eq!(fiber.join().unwrap(), 0, "none is dropped while fibers run");
        assert_eq!(*droppers.lock().unwrap(), [thread::current().id(); 20]);
    });
}

#[test]
fn a_million_pending_timers_are_dropped_by_whoever_shuts_down() {
    let many = if is_emulated() || cfg!(any(sinew_asan, sinew_tsan)) { 10_000 } else { 1_000_000 };
    let runtime = Runtime::builder().workers(2).start().unwrap();
    let drops = count();
    let held = drops.clone();
    runtime.run(move || {
        for number in 0..many {
            let held = Dropped(held.clone(), None);
            time::after(HOUR + Duration::from_micros(number), move || drop(held)).detach();
        }
    });
    assert_eq!(get(&drops), 0);
    assert!(runtime.shutdown(None).drained);
    assert_eq!(u64::from(get(&drops)), many);
}

#[test]
fn destructors_may_sleep_and_panic() {
    let output = in_child("timer_end::destructors_may_sleep_and_panic", || {
        struct Panics;
        impl Drop for Panics {
            fn drop(&mut self) {
                panic!("one of them");
            }
        }
        everywhere(|runtime| {
            let drops = count();
            let held = drops.clone();
            runtime.run(move || {
                for number in 0..9 {
                    let held = Dropped(held.clone(), Some(Duration::from_micros(500)));
                    let panics = (number % 3 == 1).then(|| Panics);
                    time::after(HOUR, move || drop((held, panics))).detach();
                }
            });
            assert!(runtime.shutdown(None).drained);
            assert_eq!(get(&drops), 9);
        });
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

/// The destructors sleep on the callback's fiber then, and hold no other fiber up.
#[test]
fn destructors_of_timers_that_have_been_called_may_sleep() {
    everywhere(|runtime| {
        let drops = count();
        let held = drops.clone();
        runtime.run(move || {
            for _ in 0..10 {
                let held = Dropped(held.clone(), Some(Duration::from_micros(500)));
                time::after(Duration::ZERO, move || drop(held)).detach();
            }
            let (calls, last) = (count(), Dropped(held.clone(), Some(Duration::from_micros(500))));
            let copy = calls.clone();
            let timer = Timer::new(move || {
                copy.fetch_add(1, Ordering::SeqCst);
                assert!(get(&last.0) < 11);
            });
            timer.arm(Schedule::after(Duration::ZERO));
            wait_until(|| get(&calls) == 1);
            drop(timer);
            wait_until(|| get(&held) == 11);
        });
        assert!(runtime.shutdown(None).drained);
    });
}

#[test]
fn a_runtime_that_is_only_dropped_drops_them_too() {
    everywhere(|runtime| {
        let drops = count();
        let held = drops.clone();
        runtime.run(move || {
            for _ in 0..10 {
                let held = Dropped(held.clone(), None);
                time::after(HOUR, move || drop(held)).detach();
            }
        });
        drop(runtime);
        wait_until(|| get(&drops) == 10);
    });
}

/// One that waits for ever, and one that is waited for meanwhile and afterwards.
#[test]
fn a_callback_that_is_abandoned_is_waited_for_by_nobody() {
    let output = in_child("timer_end::a_callback_that_is_abandoned_is_waited_for_by_nobody", || {
        everywhere(|runtime| {
            let begun = count();
            let copy = begun.clone();
            let timer = Timer::builder()
                .runtime(&runtime)
                .name("endless".to_owned())
                .build(move || {
                    copy.fetch_add(1, Ordering::SeqCst);
                    loop {
                        fiber::park();
                    }
                })
                .unwrap();
            timer.arm(Schedule::every(Duration::from_micros(10)));
            wait_until(|| get(&begun) == 1);
            assert_eq!(timer.cancel_and_wait_timeout(Duration::from_millis(1)), Err(CancelError::TimedOut));
            let timer = Arc::new(timer);
            let waits = timer.clone();
            let waiter = thread::spawn(move || waits.cancel_and_wait());
            let report = runtime.shutdown(Some(Duration::from_millis(20)));
            assert!(!report.drained);
            assert!(report.leaked.iter().any(|leak| leak.name.as_deref() == Some("endless")), "{report:?}");
            assert_eq!(waiter.join().unwrap(), Err(CancelError::Abandoned));
            let error = timer.cancel_and_wait().unwrap_err();
            assert_eq!(error, CancelError::Abandoned);
            assert!(error.to_string().contains("shut down"), "{error}");
            assert!(!timer.cancel());
        });
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

/// The runtime is shut down by a fiber of its own, which does not wait: the last worker says that
/// it is over.
#[test]
fn a_callback_is_waited_for_by_nobody_after_a_shutdown_from_inside() {
    let name = "timer_end::a_callback_is_waited_for_by_nobody_after_a_shutdown_from_inside";
    let output = in_child(name, || {
        everywhere(|runtime| {
            let begun = count();
            let copy = begun.clone();
            let endless = move || {
                copy.fetch_add(1, Ordering::SeqCst);
                loop {
                    fiber::park();
                }
            };
            let timer = Timer::builder().runtime(&runtime).build(endless).unwrap();
            timer.arm(Schedule::after(Duration::ZERO));
            wait_until(|| get(&begun) == 1);
            let waiter = thread::spawn(move || timer.cancel_and_wait());
            let (sender, receiver) = mpsc::channel::<Runtime>();
            let shutdown = move || receiver.recv().unwrap().shutdown(Some(Duration::from_millis(5)));
            let ends = runtime.spawn(shutdown);
            sender.send(runtime).unwrap();
            assert!(!ends.join().unwrap().waited);
            assert_eq!(waiter.join().unwrap(), Err(CancelError::Abandoned));
        });
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

/// The timers of that worker cannot be served any more. A caller that waits for an abandoned
/// callback gets its error all the same.
#[test]
fn a_worker_that_computes_for_ever_keeps_nobody_waiting() {
    let output = in_child("timer_end::a_worker_that_computes_for_ever_keeps_nobody_waiting", || {
        let runtime = Runtime::builder().workers(2).start().unwrap();
        let begun = count();
        let (busy, parked) = (begun.clone(), begun.clone());
        let timer = Timer::builder()
            .runtime(&runtime)
            .build(move || {
                parked.fetch_add(1, Ordering::SeqCst);
                loop {
                    fiber::park();
                }
            })
            .unwrap();
        timer.arm(Schedule::after(Duration::ZERO));
        wait_until(|| get(&begun) == 1);
        runtime.spawn(move || {
            busy.fetch_add(1, Ordering::SeqCst);
            loop {
                std::hint::spin_loop();
            }
        });
        wait_until(|| get(&begun) == 2);
        let report = runtime.shutdown(Some(Duration::from_millis(5)));
        assert!(!report.drained);
        assert_eq!(timer.cancel_and_wait(), Err(CancelError::Abandoned));
    });
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn timers_of_other_runtimes_are_cancelled_as_ones_own() {
    everywhere(|runtime| {
        let other = Runtime::builder().workers(1).start().unwrap();
        let (timer, id) = other.run(|| {
            let timer = time::after(HOUR, || unreachable!("nobody waits for an hour"));
            let id = timer.id();
            (timer, id)
        });
        let name = id.clone();
        assert!(runtime.run(move || name.cancel()));
        assert!(!timer.is_armed());
        timer.arm(Schedule::after(HOUR));
        assert!(other.shutdown(None).drained);
        runtime.run(move || {
            assert!(!id.cancel());
            assert_eq!(timer.cancel_and_wait(), Ok(false));
            drop(timer);
            assert!(!id.cancel());
        });
        assert!(runtime.shutdown(None).drained);
    });
}

/// One callback computes until all is over; the fibers of the others have been made, and never
/// begin.
#[test]
fn callbacks_that_have_not_begun_are_discarded() {
    let output = in_child("timer_end::callbacks_that_have_not_begun_are_discarded", || {
        in_each(&[&[1]], |runtime| {
            let (begun, gate, drops) = (count(), count(), count());
            let (copy, open, held) = (begun.clone(), gate.clone(), drops.clone());
            let due = Instant::now();
            let timers = runtime.run(move || {
                let timer = |_| {
                    let (begun, open, held) = (copy.clone(), open.clone(), Dropped(held.clone(), None));
                    // All of the timers are due when the worker first looks at them.
                    time::at(due, move || {
                        begun.fetch_add(1, Ordering::SeqCst);
                        while get(&open) == 0 {
                            std::hint::spin_loop();
                        }
                        drop(held);
                    })
                };
                (0..50).map(timer).collect::<Vec<_>>()
            });
            wait_until(|| get(&begun) == 1);
            let report = runtime.shutdown(Some(Duration::from_millis(5)));
            assert_eq!((report.drained, report.discarded), (false, 49), "{report:?}");
            let outcomes: Vec<_> = timers.iter().map(Timer::cancel_and_wait).collect();
            let abandoned = outcomes.iter().filter(|outcome| **outcome == Err(CancelError::Abandoned));
            assert_eq!(abandoned.count(), 1, "{outcomes:?}");
            assert!(outcomes.iter().all(|outcome| *outcome != Ok(true)), "{outcomes:?}");
            drop(timers);
            assert_eq!(get(&drops), 49);
            gate.fetch_add(1, Ordering::SeqCst);
            wait_until(|| get(&drops) == 50);
            assert_eq!(get(&begun), 1);
        });
    });
    assert!(output.status.success(), "{}", stderr(&output));
}
