//! Who moves, and who does not.
//!
//! # Safety
//!
//! The fibers that move hold nothing of their thread.
#![expect(unsafe_code, reason = "that fibers may move is a promise")]

use super::support::{Random, migrating, pinned};
use sinew::{Runtime, fiber};
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

/// Makes 1,000 fibers that wait as soon as they have begun, a few at a time, so that the workers are idle in between.
fn settle(runtime: &Runtime, seed: u64) -> Vec<fiber::JoinHandle<()>> {
    let mut random = Random::new(seed);
    let body = || {
        fiber::park();
        (0..10).for_each(|_| fiber::yield_now());
    };
    let mut fibers = Vec::new();
    while fibers.len() < 1_000 {
        let count = (1 + random.below(8) as usize).min(1_000 - fibers.len());
        match random.below(3) {
            0 => fibers.extend((0..count).map(|_| runtime.spawn(body))),
            1 => fibers.extend(runtime.spawn_batch((0..count).map(|_| body))),
            _ => {
                fibers.extend(runtime.run(move || (0..count).map(|_| fiber::spawn(body)).collect::<Vec<_>>()))
            }
        }
        if random.below(2) == 0 {
            // Until all have begun, and wait.
            while fibers.iter().any(|fiber| fiber.thread().state() != fiber::State::Parked) {
                thread::yield_now();
            }
        }
    }
    fibers
}

/// A wake goes to the lowest idle worker; but what begins there and stays must not all settle there. If the system does not let the
/// other worker run for a while, one does all the work rather than wait: so it is the median of many rounds that counts.
#[test]
fn fibers_begun_while_idle_settle_on_both_of_two_workers() {
    let mut shares = Vec::new();
    for seed in 0..20 {
        let runtime = pinned(2);
        let fibers = settle(&runtime, seed);
        fibers.iter().for_each(|fiber| fiber.thread().unpark());
        let owner = |fiber: fiber::JoinHandle<()>| {
            let owner = fiber.thread().clone();
            fiber.join().unwrap();
            owner.worker().unwrap()
        };
        shares.push(fibers.into_iter().map(owner).filter(|worker| *worker == 0).count());
    }
    shares.sort_unstable();
    let median = shares[shares.len() / 2];
    assert!((300..=700).contains(&median), "of 1,000 each, worker 0 had {shares:?}");
}
