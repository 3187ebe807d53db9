//! Functions that are called at each switch.

use crate::support::{Watched, mute, quiet_panic, strategies};
use sinew::coroutine::{Coroutine, MmapStack};
use sinew::{Runtime, fiber};
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

thread_local! {
    /// The fiber that this thread runs, as the functions have it.
    static HERE: RefCell<Vec<fiber::FiberId>> = const { RefCell::new(Vec::new()) };
}

/// Runtimes of all kinds in which `HERE` is kept.
fn followed(body: impl Fn() + Send + Sync + 'static) {
    let body = Arc::new(body);
    for (workers, strategy) in
        [1, 2, 8].into_iter().flat_map(|workers| strategies().into_iter().map(move |s| (workers, s)))
    {
        let builder = Runtime::builder()
            .workers(workers)
            .strategy(strategy)
            .on_resume(|| HERE.with_borrow_mut(|here| here.push(fiber::current().id())))
            .on_suspend(|| {
                let last = HERE.with_borrow_mut(Vec::pop);
                // Not an assertion: a panic would end here.
                if last != Some(fiber::current().id()) {
                    std::process::abort();
                }
            });
        let (runtime, body) = (Watched::new(builder.start().unwrap()), body.clone());
        runtime.run(move || body());
    }
}

fn is_mine() -> bool {
    HERE.with_borrow(|here| here.as_slice() == [fiber::current().id()])
}

#[test]
fn they_know_who_runs() {
    followed(|| {
        assert!(is_mine());
        let fibers: Vec<_> = (0..50)
            .map(|number| {
                fiber::spawn(move || {
                    for round in 0..20 {
                        assert!(is_mine());
                        match (number + round) % 3 {
                            0 => fiber::yield_now(),
                            1 => fiber::sleep(Duration::from_micros(100)),
                            // Entered from here, without the worker in between.
                            _ => assert!(fiber::spawn(is_mine).join().unwrap()),
                        }
                        assert!(is_mine());
                    }
                })
            })
            .collect();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        let dispatched = fiber::Builder::new().launch(fiber::Launch::Dispatch).spawn(is_mine).unwrap();
        assert!(is_mine() && dispatched.join().unwrap());
        let steps = fiber::spawn_steps(0, |step| {
            *step += 1;
            assert!(is_mine());
            if *step == 3 { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
        });
        steps.join().unwrap();
    });
}

sinew::fiber_local! {
    static KEPT: Cell<u32> = const { Cell::new(0) };
}

#[test]
fn several_are_called_inside_one_another() {
    thread_local! {
        static CALLS: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    }
    let call = |name| move || CALLS.with_borrow_mut(|calls| calls.push(name));
    let builder = Runtime::builder().workers(1);
    let builder = builder.on_resume(call("a+")).on_resume(call("b+"));
    let runtime = Watched::new(builder.on_suspend(call("a-")).on_suspend(call("b-")).start().unwrap());
    let calls = runtime.run(|| {
        fiber::yield_now();
        CALLS.take()
    });
    assert_eq!(calls, ["a+", "b+", "b-", "a-", "a+", "b+"]);
}

/// A wait there, or a panic, is no more than a panic there: fibers go on.
#[test]
fn what_goes_wrong_there_stays_there() {
    let _muted = (mute("waits inside `no_suspend`"), mute("no new fibers: the runtime was shut down"));
    let survived = Arc::new(AtomicUsize::new(0));
    let count = survived.clone();
    let builder = Runtime::builder().workers(2);
    let builder = builder.on_resume(|| fiber::sleep(Duration::from_secs(3_600)));
    let builder = builder.on_resume(|| drop(fiber::spawn(|| ()).join()));
    let builder =
        builder.on_suspend(|| quiet_panic("on purpose")).on_suspend(fiber::yield_now).on_suspend(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
    let runtime = Watched::new(builder.start().unwrap());
    let sum = runtime.run(|| {
        let fibers: Vec<_> = (0..10)
            .map(|number| {
                fiber::spawn(move || {
                    fiber::yield_now();
                    number
                })
            })
            .collect();
        fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum::<u32>()
    });
    assert_eq!(sum, 45);
    assert!(survived.load(Ordering::Relaxed) >= 20);
}

/// Fiber-locals are the fiber's own there, and gone when it has ended.
#[test]
fn locals_are_those_of_the_fiber() {
    let seen = Arc::new(AtomicUsize::new(0));
    let gone = Arc::new(AtomicUsize::new(0));
    let (count, ended) = (seen.clone(), gone.clone());
    let builder = Runtime::builder().workers(1).on_suspend(move || {
        if KEPT.try_with(|kept| count.fetch_add(kept.get() as usize, Ordering::Relaxed)).is_err() {
            ended.fetch_add(1, Ordering::Relaxed);
        }
    });
    let runtime = Watched::new(builder.start().unwrap());
    runtime.run(|| {
        KEPT.set(1_000);
        fiber::spawn(|| {
            KEPT.set(1);
            fiber::yield_now();
        })
        .join()
        .unwrap();
        KEPT.set(0);
    });
    drop(runtime);
    assert_eq!((seen.load(Ordering::Relaxed) % 1_000, gone.load(Ordering::Relaxed)), (1, 2));
}

/// Waits when it is dropped.
struct WaitsAtEnd;

impl Drop for WaitsAtEnd {
    fn drop(&mut self) {
        fiber::sleep(Duration::from_micros(100));
        fiber::park();
        assert!(!fiber::CancelToken::new().wait_timeout(Duration::from_micros(100)));
    }
}

/// A function that unwinds cannot panic again, so that it waits: not in the place of the fiber,
/// whose own wait goes on.
#[test]
fn what_waits_there_while_it_unwinds_ends_no_wait_of_the_fiber() {
    let unwind = || {
        let _waits = WaitsAtEnd;
        quiet_panic("on purpose");
    };
    for builder in [Runtime::builder().on_suspend(unwind), Runtime::builder().on_resume(unwind)] {
        let runtime = Watched::new(builder.workers(1).start().unwrap());
        let done = Arc::new(AtomicUsize::new(0));
        runtime.run(move || {
            let count = done.clone();
            let child = fiber::spawn(move || {
                fiber::park();
                count.fetch_add(1, Ordering::Relaxed)
            });
            let waker = child.thread().clone();
            let waker = fiber::spawn(move || {
                (0..10).for_each(|_| fiber::yield_now());
                waker.unpark();
            });
            assert_eq!(child.join().unwrap(), 0);
            assert_eq!(done.load(Ordering::Relaxed), 1);
            waker.join().unwrap();
            let until = Instant::now() + Duration::from_millis(20);
            fiber::sleep_until(until);
            assert!(Instant::now() >= until, "a sleep is never too short");
        });
    }
}

/// A value that may not leave its thread.
struct Stays {
    thread: thread::ThreadId,
    alive: Arc<AtomicUsize>,
    stays: PhantomData<*const ()>,
}

impl Stays {
    fn new(alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::Relaxed);
        Self { thread: thread::current().id(), alive: alive.clone(), stays: PhantomData }
    }
}

impl Drop for Stays {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

sinew::fiber_local! {
    static STAYS: RefCell<Option<Stays>> = const { RefCell::new(None) };
}

/// No locals are made after the end of a fiber or of a step, even if it has used none: they would
/// never be dropped, and the next step may run on any thread.
#[test]
fn no_locals_are_made_when_a_fiber_or_a_step_has_ended() {
    let alive = Arc::new(AtomicUsize::new(0));
    let count = alive.clone();
    let builder = Runtime::builder().workers(4).on_suspend(move || {
        let _ = STAYS.try_with(|stays| stays.borrow_mut().get_or_insert_with(|| Stays::new(&count)).thread);
    });
    let runtime = Watched::new(builder.start().unwrap());
    runtime.run(|| {
        let step = |step: &mut u32| {
            *step += 1;
            if step.is_multiple_of(2) {
                assert!(STAYS.with_borrow(Option::is_none), "it was made by another step");
            }
            if *step == 20 { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
        };
        let steps: Vec<_> = (0..20).map(|_| fiber::spawn_steps(0, step)).collect();
        steps.into_iter().for_each(|fiber| fiber.join().unwrap());
        let fibers: Vec<_> = (0..20).map(|_| fiber::spawn(fiber::yield_now)).collect();
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        fiber::spawn(|| ()).join().unwrap();
    });
    drop(runtime);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

/// What a panic there carries. Panics when it is dropped, too.
struct Carried(Arc<AtomicUsize>);

impl Drop for Carried {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
        quiet_panic("on purpose");
    }
}

#[test]
fn what_a_panic_there_carries_is_dropped() {
    let alive = Arc::new(AtomicUsize::new(0));
    let count = alive.clone();
    let builder = Runtime::builder().workers(1).on_suspend(move || {
        count.fetch_add(1, Ordering::Relaxed);
        quiet_panic(Carried(count.clone()));
    });
    let runtime = Watched::new(builder.start().unwrap());
    runtime.run(|| (0..10).for_each(|_| fiber::yield_now()));
    drop(runtime);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

/// A coroutine that was resumed at a switch, and suspended inside a region of each kind.
fn leave_regions() {
    let stack = MmapStack::new(1 << 16).unwrap();
    let mut inside = Coroutine::<(), (), ()>::new(stack, |suspender, ()| {
        fiber::shield(|| fiber::with_deadline(Instant::now(), || suspender.suspend(())));
    });
    inside.resume(()).yielded().unwrap();
    std::mem::forget(inside);
}

/// What is in force for a fiber is changed by the fiber alone.
#[test]
fn a_region_that_is_entered_there_does_not_concern_the_fiber() {
    for builder in [Runtime::builder().on_suspend(leave_regions), Runtime::builder().on_resume(leave_regions)]
    {
        let runtime = Watched::new(builder.workers(2).start().unwrap());
        runtime.run(|| {
            let far = Instant::now() + Duration::from_secs(3_600);
            let waits = fiber::spawn(move || {
                fiber::with_deadline(far, || {
                    fiber::yield_now();
                    let deadline = fiber::deadline();
                    (deadline, fiber::park_cancellable(), fiber::deadline())
                })
            });
            waits.cancel();
            let (before, stopped, after) = waits.join().unwrap();
            assert!(stopped.unwrap_err().is_cancelled());
            assert_eq!((before, after), (Some(far), Some(far)));
            assert_eq!(fiber::deadline(), None);
        });
    }
}
