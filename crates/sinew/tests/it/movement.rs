//! Which fibers move to other workers, and which do not.
//!
//! # Safety
//!
//! The fibers that move hold nothing of their thread.
#![expect(unsafe_code, reason = "that fibers may move is a promise")]

use super::support::{migrating, pinned};
use sinew::fiber;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};

/// Returns which thread this is. Not inlined: the caller keeps no address of its thread.
#[inline(never)]
fn here() -> ThreadId {
    thread::current().id()
}

/// Returns on how many threads a fiber finds itself that yields often.
fn threads_seen() -> usize {
    let mut seen = HashSet::new();
    for _ in 0..2_000 {
        seen.insert(here());
        fiber::yield_now();
    }
    seen.len()
}

#[test]
fn a_fiber_that_has_begun_stays() {
    for workers in [2, 8] {
        let fibers = pinned(workers).run(|| {
            let fibers: Vec<_> = (0..50).map(|_| fiber::spawn(threads_seen)).collect();
            fibers.into_iter().map(|fiber| fiber.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(fibers.iter().all(|seen| *seen == 1), "{fibers:?}");
    }
}

/// Yields until the fiber continues on another worker. Another fiber holds the first one until
/// then, so that waiting for ever is the only other outcome.
fn move_on() {
    let (home, has_moved) = (here(), Arc::new(AtomicBool::new(false)));
    let is_over = has_moved.clone();
    drop(fiber::spawn_local(move || {
        while !is_over.load(Ordering::Relaxed) {
            thread::yield_now();
        }
    }));
    while here() == home {
        fiber::yield_now();
    }
    has_moved.store(true, Ordering::Relaxed);
}

#[test]
fn a_fiber_that_may_move_does_unless_it_is_pinned() {
    let runtime = migrating(8);
    (0..20).for_each(|_| runtime.run(move_on));
    let stayed = runtime.run(|| {
        let pinned = || {
            let _stay = fiber::pin();
            threads_seen()
        };
        let fibers: Vec<_> = (0..100).map(|_| fiber::spawn(pinned)).collect();
        fibers.into_iter().all(|fiber| fiber.join().unwrap() == 1)
    });
    assert!(stayed);
}

#[test]
fn one_fiber_may_be_made_to_move() {
    let runtime = pinned(8);
    let make = || {
        // SAFETY: it holds a flag and the number of a thread.
        let builder = unsafe { fiber::Builder::new().migratable() };
        builder.spawn(move_on).unwrap()
    };
    (0..20).for_each(|_| runtime.run(make).join().unwrap());
}

#[test]
fn no_suspend_turns_a_wait_into_a_panic() {
    super::support::everywhere(|| {
        super::support::refused(fiber::yield_now);
        // It is over.
        fiber::yield_now();
        fiber::no_suspend(|| ());
    });
}
