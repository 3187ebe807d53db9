//! Who moves, and who does not.
//!
//! # Safety
//!
//! The fibers that move hold nothing of their thread.
#![expect(unsafe_code, reason = "that fibers may move is a promise")]

use super::support::{migrating, pinned};
use sinew::fiber;
use std::collections::HashSet;
use std::thread;

/// On how many threads a fiber is seen, that yields until others are idle.
fn threads_seen() -> usize {
    let mut seen = HashSet::new();
    for _ in 0..2_000 {
        seen.insert(thread::current().id());
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

#[test]
fn a_fiber_that_may_move_does_unless_it_is_pinned() {
    let runtime = migrating(8);
    // How many move is up to chance; that some do is not.
    let moved = runtime.run(|| {
        let fibers: Vec<_> = (0..100).map(|_| fiber::spawn(threads_seen)).collect();
        fibers.into_iter().map(|fiber| fiber.join().unwrap()).filter(|seen| *seen > 1).count()
    });
    assert!(moved > 0);
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
    let moved = runtime.run(|| {
        let make = || {
            // SAFETY: it holds numbers.
            let builder = unsafe { fiber::Builder::new().migratable() };
            builder.spawn(threads_seen).unwrap()
        };
        let fibers: Vec<_> = (0..100).map(|_| make()).collect();
        fibers.into_iter().map(|fiber| fiber.join().unwrap()).filter(|seen| *seen > 1).count()
    });
    assert!(moved > 0);
}

#[test]
fn no_suspend_turns_a_wait_into_a_panic() {
    super::support::everywhere(|| {
        let panic = std::panic::catch_unwind(|| fiber::no_suspend(fiber::yield_now)).unwrap_err();
        assert!(super::support::message(&*panic).contains("no_suspend"));
        // It is over.
        fiber::yield_now();
        fiber::no_suspend(|| ());
    });
}
