//! Fibers that are to begin and find no stack. Each test limits the memory of a process of its own.
//!
//! # Safety
//!
//! Limits processes of its own, and keeps their allocator from reserving much.
#![expect(unsafe_code, reason = "limits are set")]
// The sanitizers need address space of their own.
#![cfg(not(any(sinew_asan, sinew_tsan)))]

use super::runtimes::{KINDS, Kind};
use super::support::{in_child, is_emulated, stderr, watch_test_with};
use sinew::fiber::{self, Abandoned, Discarded};
use sinew::{Runtime, RuntimeBuilder};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// As large as any, so that few fit.
const STACK: usize = 64 << 20;

/// Runs `body` in a process of its own, which has to tell of the fiber that has no stack. Returns
/// what it said.
fn in_small_child(name: &str, body: impl FnOnce()) {
    if is_emulated() {
        return eprintln!("skipped: an emulator needs address space of its own");
    }
    let output = in_child(&format!("starving::{name}"), || {
        // SAFETY: changes where the allocator takes memory from; each thread's own reserve would be
        // as large as a stack.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
        let _watchdog = watch_test_with("little memory");
        body();
    });
    let text = stderr(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("no stack to begin on"), "{text}");
}

fn set_limit(bytes: u64) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: asks for a limit of this process.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) }, 0);
    limit.rlim_cur = bytes.min(limit.rlim_max);
    // SAFETY: sets it.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
}

/// Leaves the process room for `stacks` stacks of the largest size.
fn leave_room_for(stacks: u64) {
    // What stacks leave to others, but for the first one.
    const HEADROOM: u64 = 64 << 20;
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').next().unwrap().parse().unwrap();
    let headroom = if stacks == 0 { 0 } else { HEADROOM };
    set_limit(pages * 4096 + stacks * STACK as u64 + (STACK as u64) / 2 + headroom);
}

fn builder(kind: Kind) -> RuntimeBuilder {
    let builder = Runtime::builder().stack_size(STACK);
    match kind {
        Kind::Pinned => builder,
        // SAFETY: the fibers of these tests hold nothing of their thread.
        Kind::Migrating => unsafe { builder.assume_migration_safe() },
    }
}

/// Runs a test with runtimes of all kinds that have room for some stacks.
fn each(stacks: u64, test: impl Fn(Runtime)) {
    for workers in [1, 2, 8] {
        for kind in KINDS {
            let runtime = builder(kind).workers(workers).start().unwrap();
            leave_room_for(stacks);
            test(runtime);
            set_limit(u64::MAX);
        }
    }
}

/// Waits until each of `fibers` fibers has begun, or has found no stack.
fn wait_until_stuck(runtime: &Runtime, fibers: u64) {
    loop {
        let stats = runtime.stats();
        if stats.started + stats.starved >= fibers {
            return;
        }
        thread::yield_now();
    }
}

#[test]
fn they_wait_without_trying_again_and_all_begin_in_the_end() {
    in_small_child("they_wait_without_trying_again_and_all_begin_in_the_end", || {
        each(6, |runtime| {
            let fibers = runtime.spawn_batch((0..100).map(|number| {
                move || {
                    fiber::park();
                    number
                }
            }));
            wait_until_stuck(&runtime, 100);
            assert!(runtime.stats().started < 10);
            fibers.iter().for_each(|fiber| fiber.thread().unpark());
            let sum: usize = fibers.into_iter().map(|fiber| fiber.join().unwrap()).sum();
            assert_eq!(sum, 4_950);
            let stats = runtime.stats();
            assert_eq!(stats.started, 100);
            assert!((1..=100).contains(&stats.starved), "{stats:?}");
            assert!(runtime.shutdown(None).drained);
        });
    });
}

#[test]
fn fibers_in_steps_and_of_several_sizes_begin_in_the_end() {
    in_small_child("fibers_in_steps_and_of_several_sizes_begin_in_the_end", || {
        each(4, |runtime| {
            let steps: Vec<_> = (0..20)
                .map(|_| {
                    runtime.spawn_steps(0, |count| {
                        fiber::yield_now();
                        *count += 1;
                        if *count == 5 {
                            std::ops::ControlFlow::Break(*count)
                        } else {
                            std::ops::ControlFlow::Continue(())
                        }
                    })
                })
                .collect();
            let sizes = runtime.spawn(|| {
                let sizes = [STACK, STACK / 2, STACK / 4, STACK / 64];
                let make = |number: usize| {
                    let builder = fiber::Builder::new().stack_size(sizes[number % sizes.len()]);
                    builder.spawn(|| (0..3).for_each(|_| fiber::yield_now())).unwrap()
                };
                (0..100).map(make).collect::<Vec<_>>()
            });
            sizes.join().unwrap().into_iter().for_each(|fiber| fiber.join().unwrap());
            assert!(steps.into_iter().all(|steps| steps.join().unwrap() == 5));
            assert!(runtime.shutdown(None).drained);
        });
    });
}

#[test]
fn memory_that_comes_back_from_outside_is_noticed() {
    in_small_child("memory_that_comes_back_from_outside_is_noticed", || {
        each(0, |runtime| {
            let fibers = runtime.spawn_batch((0..3).map(|number| move || number));
            wait_until_stuck(&runtime, 3);
            assert_eq!(runtime.stats().started, 0);
            set_limit(u64::MAX);
            let numbers: Vec<_> = fibers.into_iter().map(|fiber| fiber.join().unwrap()).collect();
            assert_eq!(numbers, [0, 1, 2]);
            assert!(runtime.shutdown(None).drained);
        });
    });
}

#[test]
fn a_drain_waits_for_memory() {
    in_small_child("a_drain_waits_for_memory", || {
        each(0, |runtime| {
            let fibers = runtime.spawn_batch((0..3).map(|number| move || number));
            wait_until_stuck(&runtime, 3);
            let begun = Arc::new(AtomicBool::new(false));
            let flag = begun.clone();
            // A thread's stack is memory too.
            set_limit(u64::MAX);
            let drain = thread::spawn(move || {
                flag.store(true, Ordering::Relaxed);
                runtime.shutdown(None)
            });
            while !begun.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            assert!(drain.join().unwrap().drained);
            assert!(fibers.into_iter().enumerate().all(|(number, fiber)| fiber.join().unwrap() == number));
        });
    });
}

#[test]
fn a_shutdown_discards_those_that_wait() {
    in_small_child("a_shutdown_discards_those_that_wait", || {
        each(4, |runtime| {
            let fibers = runtime.spawn_batch((0..50).map(|_| fiber::park));
            wait_until_stuck(&runtime, 50);
            let report = runtime.shutdown(Some(Duration::from_millis(20)));
            assert!(!report.drained, "{report:?}");
            let (mut discarded, mut leaked) = (0, 0);
            for error in fibers.into_iter().map(|fiber| fiber.join().unwrap_err()) {
                discarded += usize::from(error.is::<Discarded>());
                leaked += usize::from(error.is::<Abandoned>());
            }
            assert_eq!((discarded, leaked), (report.discarded, report.leaked.len()));
            assert!(discarded + leaked == 50 && discarded > 30, "{report:?}");
        });
    });
}

/// Has one fiber on each of two workers, and calls `of_first` and then `of_second` there, one after
/// the other.
fn on_two_workers(
    runtime: &Runtime,
    of_first: impl FnOnce() + Send + 'static,
    of_second: impl FnOnce() + Send + 'static,
) {
    let met = Arc::new(AtomicUsize::new(0));
    let meet = |met: &AtomicUsize, count| {
        met.fetch_add(1, Ordering::SeqCst);
        // Holds its worker, so that the other one is on the other.
        while met.load(Ordering::SeqCst) < count {
            thread::yield_now();
        }
    };
    let copy = met.clone();
    let first = runtime.spawn(move || {
        meet(&copy, 2);
        of_first();
        copy.fetch_add(1, Ordering::SeqCst);
        fiber::park();
    });
    let second = runtime.spawn(move || {
        meet(&met, 2);
        while met.load(Ordering::SeqCst) < 3 {
            fiber::yield_now();
        }
        of_second();
    });
    second.join().unwrap();
    first.thread().unpark();
    first.join().unwrap();
}

/// Makes fibers that stay where they are made, and returns when all of them have begun and ended.
fn hold_stacks(count: usize) {
    let begun = std::rc::Rc::new(std::cell::Cell::new(0));
    let fibers: Vec<_> = (0..count)
        .map(|_| {
            let begun = begun.clone();
            fiber::spawn_local(move || {
                begun.set(begun.get() + 1);
                while begun.get() < count {
                    fiber::yield_now();
                }
            })
        })
        .collect();
    fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
}

#[test]
fn unused_stacks_of_another_worker_are_had() {
    in_small_child("unused_stacks_of_another_worker_are_had", || {
        let runtime = builder(Kind::Pinned).workers(2).start().unwrap();
        leave_room_for(10);
        // Two of the ten are theirs; the first one's worker keeps four, and sleeps.
        on_two_workers(&runtime, || hold_stacks(4), || hold_stacks(8));
        assert!(runtime.shutdown(None).drained);
    });
}

#[test]
fn unused_stacks_of_another_size_make_room() {
    in_small_child("unused_stacks_of_another_size_make_room", || {
        let runtime = builder(Kind::Pinned).workers(2).start().unwrap();
        leave_room_for(8);
        let of_second = || {
            let ended = Arc::new(AtomicUsize::new(0));
            let make = |_| {
                let ended = ended.clone();
                let builder = fiber::Builder::new().stack_size(STACK / 2);
                let all_have_begun = move || {
                    ended.fetch_add(1, Ordering::SeqCst);
                    while ended.load(Ordering::SeqCst) < 8 {
                        fiber::yield_now();
                    }
                };
                builder.spawn(all_have_begun).unwrap()
            };
            let fibers: Vec<_> = (0..8).map(make).collect();
            fibers.into_iter().for_each(|fiber| fiber.join().unwrap());
        };
        on_two_workers(&runtime, || hold_stacks(6), of_second);
        assert!(runtime.shutdown(None).drained);
    });
}

/// Notes on which thread it is dropped.
struct Noted(Arc<Mutex<Vec<ThreadId>>>);

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(thread::current().id());
    }
}

#[test]
fn what_must_not_be_sent_is_dropped_by_its_worker_or_not_at_all() {
    in_small_child("what_must_not_be_sent_is_dropped_by_its_worker_or_not_at_all", || {
        each(3, |runtime| {
            let dropped = Arc::new(Mutex::new(Vec::new()));
            let copy = dropped.clone();
            let home = Arc::new(Mutex::new(None));
            let place = home.clone();
            let maker = runtime.spawn(move || {
                *place.lock().unwrap() = Some(thread::current().id());
                let _stay = fiber::pin();
                for _ in 0..20 {
                    let noted = Noted(copy.clone());
                    drop(fiber::spawn_local(move || {
                        fiber::park();
                        drop(noted);
                    }));
                }
                fiber::park();
            });
            wait_until_stuck(&runtime, 21);
            let report = runtime.shutdown(Some(Duration::from_millis(20)));
            assert!(report.discarded > 10, "{report:?}");
            assert!(maker.join().unwrap_err().is::<Abandoned>());
            let home = home.lock().unwrap().unwrap();
            assert!(dropped.lock().unwrap().iter().all(|thread| *thread == home));
        });
    });
}
