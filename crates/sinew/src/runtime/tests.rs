//! Tests of what a runtime's engine reports about its fibers.
//!
//! # Safety
//!
//! The fibers that migrate hold nothing of their thread.
#![expect(unsafe_code, reason = "that fibers may move is a promise")]

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use sinew_coroutine::LARGEST_CLASS;

use super::{Runtime, RuntimeBuilder};
use crate::fiber;

/// Fibers try to begin and to end while a reader holds the locks, and must wait. If one did begin
/// or end, it would be counted twice or not at all, and could be freed while it is read.
#[test]
fn no_fiber_begins_or_ends_while_they_are_read() {
    // SAFETY: the fibers hold nothing of their thread.
    let moves = |builder: RuntimeBuilder| unsafe { builder.assume_migration_safe() };
    for builder in [Runtime::builder(), moves(Runtime::builder())] {
        let runtime = builder.workers(2).start().unwrap();
        let host = runtime.site().host().clone();
        let (running, is_over, begun) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let [running, is_over, begun] = [running, is_over, begun].map(Arc::new);
        let (starts, stops) = (running.clone(), is_over.clone());
        let ends = runtime.spawn(move || {
            starts.store(1, Ordering::Relaxed);
            while stops.load(Ordering::Relaxed) == 0 {
                thread::yield_now();
            }
        });
        while running.load(Ordering::Relaxed) == 0 || host.census.workers() < 2 {
            thread::yield_now();
        }
        // Longer than they take. A slower machine only makes this check weaker, never wrong.
        let wait = || thread::sleep(Duration::from_millis(20));
        let count = || {
            let count = begun.clone();
            let begins = runtime.spawn(move || count.store(1, Ordering::Relaxed));
            wait();
            let has_begun = begun.load(Ordering::Relaxed);
            is_over.store(1, Ordering::Relaxed);
            wait();
            (begins, ends.is_finished(), has_begun)
        };
        let (fibers, (begins, has_ended, has_begun)) = host.census.begun(count).unwrap();
        assert_eq!((has_ended, has_begun), (false, 0));
        assert_eq!((fibers.waiting.len(), fibers.running.len()), (0, 1), "{fibers:?}");
        ends.join().unwrap();
        begins.join().unwrap();
        let (fibers, ()) = host.census.begun(|| ()).unwrap();
        assert_eq!((fibers.waiting.len(), fibers.running.len()), (0, 0), "{fibers:?}");
        assert!(runtime.shutdown(None).drained);
    }
}

/// Leaves this process the address space for one and a half stacks of the largest size.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
fn leave_room_for_one_stack() {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').next().unwrap().parse().unwrap();
    let bytes = pages * 4096 + (LARGEST_CLASS as u64) * 3 / 2;
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: only lowers a limit of this process.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
}

/// The stack must be passed on directly: the periodic check, which would find the waiting fiber
/// too, is off. The test runs in a process of its own, which has address space for one stack.
/// Sanitizers and emulators need address space themselves.
#[cfg(not(any(sinew_asan, sinew_tsan)))]
#[test]
fn a_stack_that_comes_back_goes_to_a_fiber_that_waits_for_one() {
    const NAME: &str = "runtime::tests::a_stack_that_comes_back_goes_to_a_fiber_that_waits_for_one";
    const CHILD: &str = "SINEW_TEST_CHILD";
    if std::env::var_os("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER").is_some() {
        return eprintln!("skipped: an emulator needs address space of its own");
    }
    if std::env::var_os(CHILD).is_none() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        let output = command.args([NAME, "--exact", "--nocapture"]).env(CHILD, "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    // SAFETY: only changes where the allocator takes memory from; each thread's own reserve would
    // be as large as a stack.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    let runtime = Runtime::builder().workers(1).stack_size(LARGEST_CLASS).start().unwrap();
    runtime.site().host().starving.never_looks.store(true, Ordering::Relaxed);
    leave_room_for_one_stack();
    let fibers = runtime.spawn_batch((0..3).map(|_| fiber::park));
    while runtime.stats().started + runtime.stats().starved < 3 {
        thread::yield_now();
    }
    assert_eq!((runtime.stats().started, runtime.stats().starved), (1, 2));
    fibers.iter().for_each(|fiber| fiber.thread().unpark());
    for fiber in fibers {
        let ended = fiber.join_timeout(Duration::from_secs(30));
        ended.expect("the stack of one that has ended is for the next one").unwrap();
    }
    assert!(runtime.shutdown(None).drained);
}
