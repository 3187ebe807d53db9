//! Fibers in steps.

use std::cell::Cell;
use std::collections::HashSet;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use sinew::fiber::{self, Discarded, State};
use sinew::{Runtime, fiber_local};

use crate::runtimes::{KINDS, Kind, each, each_of, finish, start};
use crate::support::{message, quiet_panic, watch_test_with};

#[test]
fn steps_follow_one_another() {
    each(|runtime, _| {
        let sums = runtime.run(|| {
            let fibers: Vec<_> = (0..50).map(|steps| fiber::spawn_steps((0, 0), sum(steps))).collect();
            fibers.into_iter().map(|fiber| fiber.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(runtime.spawn_steps((0, 0), sum(50)).join().unwrap(), 1275, "from outside");
        assert_eq!(sums, (0..50).map(|steps| steps * (steps + 1) / 2).collect::<Vec<_>>());
        let stats = runtime.stats();
        assert_eq!((stats.started, stats.finished), (52, 52), "each begins once, and ends once");
    });
}

fn sum(steps: u32) -> impl FnMut(&mut (u32, u32)) -> ControlFlow<u32> + Send {
    move |(done, sum)| {
        *sum += *done;
        *done += 1;
        if *done > steps { Break(*sum) } else { Continue(()) }
    }
}

#[test]
fn a_step_stays_where_it_waits() {
    each(|runtime, kind| {
        let step = move |left: &mut u32| {
            let before = thread::current().id();
            (0..100).for_each(|_| fiber::yield_now());
            fiber::sleep(Duration::from_micros(10));
            fiber::spawn(fiber::yield_now).join().unwrap();
            assert!(kind == Kind::Migrating || thread::current().id() == before);
            *left -= 1;
            if *left == 0 { Break(()) } else { Continue(()) }
        };
        runtime.run(move || {
            let fibers: Vec<_> = (0..20).map(|_| fiber::spawn_steps(5, step)).collect();
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        });
    });
}

/// After each step, a fiber that cannot move keeps the step's worker busy until the next step
/// begins. That is on another worker, unless the worker takes the next step before that fiber: now
/// and then it is the turn of what anyone may run.
#[test]
fn between_steps_it_moves() {
    each_of(&[2, 8], |runtime, _| {
        let begun = Arc::new(AtomicUsize::new(0));
        let step = move |places: &mut Vec<ThreadId>| {
            places.push(thread::current().id());
            let count = begun.fetch_add(1, Ordering::SeqCst) + 1;
            if places[0] != places[count - 1] || count == 100 {
                return Break(places.clone());
            }
            let begun = begun.clone();
            fiber::spawn_local(move || {
                while begun.load(Ordering::SeqCst) == count {
                    thread::yield_now();
                }
            });
            Continue(())
        };
        let places = runtime.run(move || fiber::spawn_steps(Vec::new(), step).join().unwrap());
        assert_ne!(places.first(), places.last(), "{} steps", places.len());
    });
}

#[test]
fn a_stack_is_held_only_during_a_step() {
    const FIBERS: usize = 1000;
    for kind in KINDS {
        let _watchdog = watch_test_with(format!("{kind:?}"));
        let runtime = start(1, kind);
        let (places, going) = (Arc::new(Mutex::new(HashSet::new())), Arc::new(AtomicUsize::new(0)));
        let step = {
            let (places, going) = (places.clone(), going.clone());
            move |has_begun: &mut bool| {
                let here = 0_u8;
                places.lock().unwrap().insert(&raw const here as usize);
                if !std::mem::replace(has_begun, true) {
                    going.fetch_add(1, Ordering::Relaxed);
                }
                if going.load(Ordering::Relaxed) == FIBERS { Break(()) } else { Continue(()) }
            }
        };
        let makes = move || (0..FIBERS).map(|_| fiber::spawn_steps(false, step.clone())).collect::<Vec<_>>();
        runtime.run(makes).into_iter().for_each(|fiber| fiber.join().unwrap());
        // All were between their steps at one moment. A few frames of the maker and of joins may be
        // below.
        assert!(places.lock().unwrap().len() < 10, "{}", places.lock().unwrap().len());
        finish(runtime);
    }
}

static WRONG: AtomicUsize = AtomicUsize::new(0);
static DROPPED: AtomicUsize = AtomicUsize::new(0);

/// Notes a drop on another thread than the one it was made on.
struct OfThread(ThreadId);

impl Drop for OfThread {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
        if thread::current().id() != self.0 {
            WRONG.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fiber_local! {
    static OF_THREAD: OfThread = OfThread(thread::current().id());
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

#[test]
fn locals_last_for_one_step() {
    each(|runtime, _| {
        let before = DROPPED.load(Ordering::Relaxed);
        let step = move |left: &mut usize| {
            let expected = before + 10 - *left;
            assert_eq!(DROPPED.load(Ordering::Relaxed), expected, "dropped before the next step");
            assert_eq!(COUNT.replace(1), 0);
            OF_THREAD.with(|_| ());
            *left -= 1;
            if *left == 0 { Break(()) } else { Continue(()) }
        };
        runtime.run(move || fiber::spawn_steps(10, step).join().unwrap());
        assert_eq!(DROPPED.load(Ordering::Relaxed), before + 10);
        assert_eq!(WRONG.load(Ordering::Relaxed), 0);
    });
}

#[test]
fn a_step_that_panics_is_the_last() {
    each(|runtime, _| {
        let state = Arc::new(());
        let held = state.clone();
        let fiber = runtime.run(move || {
            fiber::spawn_steps((held, 0), |(_, steps)| {
                *steps += 1;
                if *steps == 3 {
                    quiet_panic("the third");
                }
                Continue::<()>(())
            })
        });
        let panic = fiber.join().unwrap_err();
        assert_eq!(message(&*panic), "the third");
        assert_eq!(Arc::strong_count(&state), 1, "the state is dropped");
    });
}

struct Panics;

impl Drop for Panics {
    fn drop(&mut self) {
        quiet_panic("the destructor");
    }
}

fiber_local!(static PANICS: Panics = const { Panics });

#[test]
fn a_locals_panic_ends_the_steps() {
    each(|runtime, _| {
        let state = Arc::new(());
        let held = state.clone();
        let fiber = runtime.run(move || {
            fiber::spawn_steps((held, 0), |(_, steps)| {
                *steps += 1;
                if *steps == 3 {
                    PANICS.with(|_| ());
                }
                assert!(*steps <= 3, "there is no other step");
                Continue::<()>(())
            })
        });
        let panic = fiber.join().unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"the destructor"));
        assert_eq!(Arc::strong_count(&state), 1, "the state is dropped");
    });
}

#[test]
fn endless_steps_let_others_run() {
    each(|runtime, _| {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        runtime.run(move || {
            let step = move |_: &mut ()| if flag.load(Ordering::Relaxed) { Break(()) } else { Continue(()) };
            let endless: Vec<_> = (0..20).map(|_| fiber::spawn_steps((), step.clone())).collect();
            for _ in 0..100 {
                fiber::spawn(fiber::yield_now).join().unwrap();
            }
            fiber::sleep(Duration::from_millis(1));
            stop.store(true, Ordering::Relaxed);
            endless.into_iter().for_each(|fiber| fiber.join().unwrap());
        });
    });
}

#[test]
fn a_shutdown_waits_for_all_steps() {
    for kind in KINDS {
        for workers in [1, 2, 8] {
            let _watchdog = watch_test_with(format!("{workers} workers, {kind:?}"));
            let runtime = start(workers, kind);
            let fibers =
                runtime.run(|| (0..20).map(|_| fiber::spawn_steps((0, 0), sum(1000))).collect::<Vec<_>>());
            finish(runtime);
            assert!(fibers.into_iter().all(|fiber| fiber.is_finished() && fiber.join().unwrap() == 500_500));
        }
    }
}

#[test]
fn a_shutdown_whose_time_is_over_discards_between_steps() {
    for (kind, workers) in KINDS.into_iter().flat_map(|kind| [1, 2, 8].map(|workers| (kind, workers))) {
        let _watchdog = watch_test_with(format!("{workers} workers, {kind:?}"));
        // A worker that is kept from running ends no step while it is waited for: the shutdown
        // tells that it is stuck.
        assert!((0..20).any(|_| discards_between_steps(start(workers, kind))));
    }
}

/// Shuts a runtime down while a fiber makes endless steps. Returns false if the worker did not end
/// its step in time.
fn discards_between_steps(runtime: Runtime) -> bool {
    let state = Arc::new(());
    let held = state.clone();
    let fiber = runtime.run(move || fiber::spawn_steps(held, |_| Continue::<()>(())));
    while fiber.thread().state() == State::New {
        thread::yield_now();
    }
    let report = runtime.shutdown(Some(Duration::from_millis(1)));
    if !report.stuck.is_empty() {
        return false;
    }
    assert_eq!((report.discarded, report.leaked.len()), (1, 0), "{report:?}");
    assert!(fiber.join().unwrap_err().is::<Discarded>());
    assert_eq!(Arc::strong_count(&state), 1, "the state is dropped");
    true
}

#[test]
fn a_thread_makes_them_too() {
    let _watchdog = watch_test_with("the default runtime");
    assert_eq!(fiber::spawn_steps((0, 0), sum(10)).join().unwrap(), 55);
}
