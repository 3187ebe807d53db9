//! What everything else rests on, where no other test looks at it.
//!
//! # Safety
//!
//! Looks at the memory of stacks whose fibers were abandoned; fibers that move hold nothing of
//! their thread.
#![expect(
    unsafe_code,
    reason = "the memory of a leaked stack is read, and threads are asked for their number"
)]

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::runtimes::{KINDS, Kind, each, start};
use super::support::{everywhere, watch_test_with};
use sinew::{Runtime, fiber};

/// How many workers this process has whose names begin so.
fn threads(prefix: &str) -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    let is_worker =
        |name: &str| name.starts_with(prefix) && name.ends_with(|last: char| last.is_ascii_digit());
    names.filter(|name| is_worker(name.trim_end())).count()
}

/// Notes that it is dropped.
struct Noted(Arc<AtomicUsize>);

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn an_abandoned_stack_stays_as_it_was_and_so_does_its_thread() {
    const FIBERS: usize = 20;
    for kind in KINDS {
        let _watchdog = watch_test_with(format!("{kind:?}"));
        let name = if kind == Kind::Pinned { "keepsp" } else { "keepsm" };
        let builder = Runtime::builder().workers(2).name(name);
        let builder = match kind {
            Kind::Pinned => builder,
            // SAFETY: the fibers hold nothing of their thread.
            Kind::Migrating => unsafe { builder.assume_migration_safe() },
        };
        let runtime = builder.start().unwrap();
        let (frames, dropped) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let body = |number: usize| {
            let (frames, noted) = (frames.clone(), Noted(dropped.clone()));
            move || {
                let frame = black_box([number; 100]);
                frames.lock().unwrap().push((number, (&raw const frame).expose_provenance()));
                fiber::park();
                drop((black_box(&frame)[0], noted));
            }
        };
        let fibers = runtime.spawn_batch((0..FIBERS).map(body));
        while fibers.iter().any(|fiber| fiber.thread().state() != fiber::State::Parked) {
            std::thread::yield_now();
        }
        assert_eq!(runtime.shutdown(Some(Duration::ZERO)).leaked.len(), FIBERS);
        fibers.into_iter().for_each(|fiber| drop(fiber.join().unwrap_err()));
        // The fibers of another runtime use all the memory that is free.
        let other = start(2, kind);
        let many = other.spawn_batch((0..200).map(|_| || black_box([0xFF_u8; 50_000])[0]));
        many.into_iter().for_each(|fiber| assert_eq!(fiber.join().unwrap(), 0xFF));
        assert!(other.shutdown(None).drained);
        for (number, frame) in frames.lock().unwrap().iter() {
            let frame = std::ptr::with_exposed_provenance::<[usize; 100]>(*frame);
            // SAFETY: the frame belongs to a leaked fiber, so it stays for ever, and no thread
            // writes to it.
            assert_eq!(unsafe { frame.read_volatile() }, [*number; 100]);
        }
        assert_eq!(dropped.load(Ordering::SeqCst), 0);
        // The threads that own a started fiber are left. At least one thread does.
        assert!((1..=2).contains(&threads(name)), "{kind:?}");
    }
}

#[test]
fn no_drop_of_ours_suspends() {
    everywhere(|| {
        let go = Arc::new(AtomicBool::new(false));
        let body = || {
            let go = go.clone();
            move || {
                while !go.load(Ordering::Relaxed) {
                    fiber::yield_now();
                }
            }
        };
        let (one, batch) = (fiber::spawn(body()), fiber::spawn_batch((0..3).map(|_| body())));
        let steps = fiber::spawn_steps((), |()| std::ops::ControlFlow::Break(()));
        let ended = fiber::spawn(|| vec![1]);
        while !ended.is_finished() {
            fiber::yield_now();
        }
        let runtime = Runtime::builder().workers(1).start().unwrap();
        let elsewhere = runtime.spawn(|| ());
        fiber::scope(|scope| {
            let scoped = scope.spawn(body());
            let (pin, me) = (fiber::pin(), fiber::current());
            // A suspension inside panics.
            fiber::no_suspend(move || {
                drop((one, batch, steps, ended));
                drop((scoped, pin, me));
                drop((elsewhere, runtime));
            });
            go.store(true, Ordering::Relaxed);
        });
    });
}

/// The thread that calls this. Not inlined: the caller has no address of its thread.
#[inline(never)]
fn thread_number() -> i32 {
    // SAFETY: asks for a number.
    unsafe { libc::gettid() }
}

/// If the runtime kept anything of the thread across a suspension, it would put local fibers on
/// another one.
#[test]
fn the_runtime_finds_the_thread_of_a_fiber_that_moves() {
    let moves = AtomicUsize::new(0);
    each(|runtime, kind| {
        let rounds = if cfg!(debug_assertions) { 100 } else { 1_000 };
        let body = move || {
            let (mut last, mut moved) = (thread_number(), 0);
            for round in 0..rounds {
                match round % 4 {
                    0 => fiber::sleep(Duration::from_micros(1)),
                    1 => fiber::spawn(fiber::yield_now).join().unwrap(),
                    _ => fiber::yield_now(),
                }
                let stay = fiber::pin();
                let here = thread_number();
                let local = fiber::spawn_local(|| {
                    fiber::yield_now();
                    thread_number()
                });
                assert_eq!((local.join().unwrap(), thread_number()), (here, here));
                drop(stay);
                moved += usize::from(last != here);
                last = here;
            }
            moved
        };
        let fibers = runtime.spawn_batch((0..50).map(|_| body));
        let moved: usize = fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum();
        assert!(kind == Kind::Migrating || moved == 0);
        moves.fetch_add(moved, Ordering::Relaxed);
    });
    assert_ne!(moves.load(Ordering::Relaxed), 0, "some of those that may move do");
}

/// The time-out and an unpark race to end each wait. The one that is late must not end the next
/// wait, which would then be too short.
#[test]
fn whoever_is_late_for_a_wait_ends_no_other() {
    each(|runtime, _| {
        let fibers = runtime.spawn_batch((0..8).map(|number: u64| {
            move || {
                for round in 0..100 {
                    fiber::park_timeout(Duration::from_micros((number * 7 + round) % 40));
                    let begun = Instant::now();
                    fiber::sleep(Duration::from_micros(200));
                    assert!(begun.elapsed() >= Duration::from_micros(200));
                }
            }
        }));
        while fibers.iter().any(|fiber| !fiber.is_finished()) {
            fibers.iter().for_each(|fiber| fiber.thread().unpark());
        }
        fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
    });
}

/// An unpark from another thread, at each moment between the beginning of a wait and the end of the
/// switch: the fiber is scheduled once, and not before its registers are saved. Ends early if each
/// round takes long because other programs have the CPUs.
#[test]
fn a_fiber_is_woken_only_when_it_is_saved() {
    const ROUNDS: usize = 5_000;
    each(|runtime, _| {
        let (round, is_over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (announce, ends) = (round.clone(), is_over.clone());
        let fiber = runtime.spawn(move || {
            let mut parks = 0;
            while !ends.load(Ordering::Relaxed) {
                parks += 1;
                announce.store(parks, Ordering::Release);
                fiber::park();
            }
            parks
        });
        let (parker, end) = (fiber.thread().clone(), Instant::now() + Duration::from_millis(500));
        for number in 1..=ROUNDS {
            let mut spins = 0;
            while round.load(Ordering::Acquire) != number {
                std::hint::spin_loop();
                spins += 1;
                if spins % 1_000 == 0 {
                    std::thread::yield_now();
                }
            }
            for _ in 0..number % 97 {
                std::hint::spin_loop();
            }
            // The fiber sees it after the park that this unpark ends.
            let is_last = number == ROUNDS || Instant::now() >= end;
            is_over.store(is_last, Ordering::Relaxed);
            parker.unpark();
            if is_last {
                return assert_eq!(fiber.join().unwrap(), number);
            }
        }
    });
}
