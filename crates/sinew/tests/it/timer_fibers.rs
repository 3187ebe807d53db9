//! The fibers of callbacks: what they are called, where they run, what they may do.

use super::support::{Watched, in_child, migrating, pinned, stderr};
use super::timer::{Count, Gate, anywhere, wait_until};
use sinew::sync::{Condvar, Event, Mutex};
use sinew::time::{self, Schedule, Timer};
use sinew::{Runtime, channel, fiber};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[test]
fn a_panic_stops_the_timer_and_is_told() {
    let output = in_child("timer_fibers::a_panic_stops_the_timer_and_is_told", || {
        anywhere(|| {
            let calls = Count::default();
            let copy = calls.clone();
            let timer = Timer::builder()
                .name("fuse".to_owned())
                .build(move || {
                    copy.add();
                    assert!(copy.get() != 1, "the first is one too many");
                })
                .unwrap();
            timer.arm(Schedule::every(Duration::from_micros(10)));
            wait_until(|| !timer.is_armed());
            assert_eq!(timer.cancel_and_wait(), Ok(false));
            assert_eq!(calls.get(), 1);
            // What it holds is the caller's affair: armed again, it is called again.
            timer.arm(Schedule::after(Duration::ZERO));
            calls.wait_for(2);
        });
    });
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stderr(&output);
    assert!(text.contains("fuse") && text.contains("the first is one too many"), "{text}");
}

#[test]
fn callbacks_do_not_count_against_the_limit() {
    let runtime = Runtime::builder().workers(2).max_fibers(1).start().unwrap();
    let runtime = Watched::new(runtime);
    for _ in 0..3 {
        runtime.run(|| {
            let gate = Gate::default();
            let timers: Vec<_> = (0..10)
                .map(|_| {
                    let gate = gate.clone();
                    time::after(Duration::ZERO, move || gate.pass())
                })
                .collect();
            gate.begun.wait_for(10);
            assert!(fiber::try_spawn(|| ()).is_err_and(|error| error.is_limit()));
            gate.open();
            for timer in &timers {
                timer.cancel_and_wait().unwrap();
            }
        });
    }
}

#[test]
fn a_busy_workers_timers_are_seen_to_by_an_idle_one() {
    for runtime in [pinned(2), migrating(2)] {
        runtime.run(|| {
            let called = Arc::new(AtomicBool::new(false));
            let copy = called.clone();
            let _timer = time::after(Duration::from_micros(500), move || copy.store(true, Ordering::SeqCst));
            // Computes, and never looks at its timers.
            while !called.load(Ordering::SeqCst) {
                std::hint::spin_loop();
            }
        });
    }
}

/// A fiber that may move begins a wait with a limit of time, and a neighbour keeps its worker until
/// that wait has ended.
#[test]
fn a_busy_workers_sleepers_that_may_move_are_woken_by_an_idle_one() {
    const TIME: Duration = Duration::from_millis(2);
    let waits: [fn(); 7] = [
        || fiber::sleep(TIME),
        || fiber::park_timeout(TIME),
        || assert!(!Event::auto().wait_timeout(TIME)),
        || {
            let (_sender, receiver) = channel::bounded::<()>(0);
            assert!(receiver.recv_timeout(TIME).is_err());
        },
        || assert!(channel::after(TIME).recv().is_ok()),
        || drop(Mutex::new(()).lock().map(|guard| Condvar::new().wait_timeout(guard, TIME).unwrap())),
        || assert!(time::timeout(TIME, || Event::auto().wait_cancellable()).is_err()),
    ];
    for (wait, runtime) in waits.into_iter().flat_map(|wait| [migrating(2), migrating(8)].map(|r| (wait, r)))
    {
        runtime.run(move || {
            let is_over = Arc::new(AtomicBool::new(false));
            let flag = is_over.clone();
            drop(fiber::spawn_local(move || {
                while !flag.load(Ordering::SeqCst) {
                    std::hint::spin_loop();
                }
            }));
            wait();
            is_over.store(true, Ordering::SeqCst);
        });
    }
}

/// The same from outside: of two timers, one lives with the busy worker.
#[test]
fn a_busy_worker_holds_up_no_timers_of_threads() {
    for (runtime, number) in [(pinned(2), 0), (pinned(2), 1)] {
        let (begun, stop) = (Count::default(), Arc::new(AtomicBool::new(false)));
        let (copy, flag) = (begun.clone(), stop.clone());
        let busy = runtime.spawn(move || {
            copy.add();
            while !flag.load(Ordering::SeqCst) {
                std::hint::spin_loop();
            }
        });
        begun.wait_for(1);
        let calls = Count::default();
        let timers = [(); 2].map(|()| {
            let calls = calls.clone();
            Timer::builder().runtime(&runtime).build(move || calls.add()).unwrap()
        });
        // Time for the other worker to fall asleep, and for a fault to show; if there is none, it
        // changes nothing.
        fiber::sleep(Duration::from_millis(5));
        for round in 1..5 {
            timers[number].arm(Schedule::after(Duration::from_micros(round * 100)));
            calls.wait_for(round as u32);
        }
        stop.store(true, Ordering::SeqCst);
        busy.join().unwrap();
    }
}

#[test]
fn a_callback_belongs_to_the_runtime_of_its_maker() {
    let runtimes = [pinned(1), pinned(2)];
    let group = |runtime: &Runtime| {
        let (calls, seen) = (Count::default(), Arc::new(Mutex::new(None)));
        let (copy, place) = (calls.clone(), seen.clone());
        let timer = Timer::builder()
            .runtime(runtime)
            .build(move || {
                *place.lock().unwrap() = Some(fiber::available_parallelism().unwrap().get());
                copy.add();
            })
            .unwrap();
        timer.arm(Schedule::after(Duration::ZERO));
        calls.wait_for(1);
        seen.lock().unwrap().take().unwrap()
    };
    assert_eq!(runtimes.each_ref().map(|runtime| group(runtime)), [1, 2]);
}

#[test]
fn a_stack_that_is_too_large_is_an_error() {
    let error = Timer::builder().stack_size(usize::MAX).build(|| ()).unwrap_err();
    assert!(error.to_string().contains("stack"), "{error}");
}
