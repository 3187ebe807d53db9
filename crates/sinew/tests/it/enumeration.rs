//! All fibers of a runtime, while it works.

use super::support::{Watched, migrating, pinned, until};
use sinew::fiber::{self, Fiber, FiberId, State};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn ids(fibers: &[Fiber]) -> BTreeSet<FiberId> {
    fibers.iter().map(Fiber::id).collect()
}

/// The fibers of a runtime, each of them once.
fn fibers(runtime: &Watched) -> BTreeSet<FiberId> {
    let fibers = runtime.fibers().unwrap();
    let ids = ids(&fibers);
    assert_eq!(ids.len(), fibers.len(), "each of them once");
    ids
}

fn runtimes() -> [Watched; 3] {
    [pinned(1), pinned(2), migrating(2)]
}

#[test]
fn fibers_are_found_whether_they_have_begun_or_not() {
    for runtime in runtimes() {
        let other = pinned(1);
        let elsewhere = other.spawn(fiber::park);
        let workers = runtime.workers();
        // Parked, made by a thread and by a fiber; with a body that is too large for a kept block;
        // in steps.
        let mut parked: Vec<_> = (0..100).map(|_| runtime.spawn(fiber::park)).collect();
        let large = [1_u8; 4_096];
        parked.push(runtime.spawn(move || {
            fiber::park();
            assert_eq!(large, [1; 4_096]);
        }));
        let inner = || (0..100).map(|_| fiber::spawn(fiber::park)).collect::<Vec<_>>();
        parked.extend(runtime.run(inner));
        parked.push(runtime.spawn_steps(0, |step| {
            fiber::park();
            *step += 1;
            if *step == 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }));
        until(
            || parked.iter().all(|fiber| fiber.thread().state() == State::Parked),
            || "they are parked".to_owned(),
        );
        // All workers are busy, and nothing begins.
        let is_over = Arc::new(AtomicBool::new(false));
        let mut busy = Vec::new();
        for _ in 0..workers {
            let is_over = is_over.clone();
            busy.push(runtime.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }));
        }
        until(|| busy.iter().all(|fiber| fiber.thread().state() == State::Running), || "they run".to_owned());
        let unbegun: Vec<_> = (0..300).map(|_| runtime.spawn(|| ())).collect();
        let unended: BTreeSet<_> =
            parked.iter().chain(&busy).chain(&unbegun).map(|fiber| fiber.thread().id()).collect();
        assert_eq!(fibers(&runtime), unended);
        assert_eq!(fibers(&other), BTreeSet::from([elsewhere.thread().id()]));
        is_over.store(true, Ordering::Relaxed);
        busy.into_iter().chain(unbegun).for_each(|fiber| fiber.join().unwrap());
        // What has ended is not found, though its handle is there.
        let ended = runtime.spawn(|| ());
        until(|| ended.is_finished(), || "it ends".to_owned());
        let unended: BTreeSet<_> = parked.iter().map(|fiber| fiber.thread().id()).collect();
        until(|| fibers(&runtime) == unended, || "those that wait are left".to_owned());
        parked.iter().for_each(|fiber| fiber.thread().unpark());
        parked.into_iter().for_each(|fiber| fiber.join().unwrap());
        until(|| fibers(&runtime).is_empty(), || "none is left".to_owned());
        elsewhere.thread().unpark();
        elsewhere.join().unwrap();
    }
}

#[test]
fn fibers_come_and_go_meanwhile() {
    for runtime in runtimes() {
        let stay: Vec<_> = (0..50).map(|_| runtime.spawn(fiber::park)).collect();
        let stay_ids: BTreeSet<_> = stay.iter().map(|fiber| fiber.thread().id()).collect();
        let is_over = Arc::new(AtomicBool::new(false));
        let mut churn = Vec::new();
        for _ in 0..2 {
            let is_over = is_over.clone();
            churn.push(runtime.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let many = (0..100_u64).map(|number| fiber::spawn(move || number));
                    let sum: u64 =
                        many.collect::<Vec<_>>().into_iter().map(|fiber| fiber.join().unwrap()).sum();
                    assert_eq!(sum, 4_950);
                    fiber::yield_now();
                }
            }));
        }
        for _ in 0..200 {
            let found = runtime.fibers().unwrap();
            assert!(ids(&found).is_superset(&stay_ids), "those that stay are always found");
            // Each of them is there for as long as the caller has it.
            assert!(found.iter().all(|fiber| fiber.spawned_at().is_some()));
        }
        is_over.store(true, Ordering::Relaxed);
        churn.into_iter().for_each(|fiber| fiber.join().unwrap());
        stay.iter().for_each(|fiber| fiber.thread().unpark());
        stay.into_iter().for_each(|fiber| fiber.join().unwrap());
    }
}

#[test]
fn discarded_fibers_are_not_found() {
    for runtime in runtimes() {
        let parked = runtime.spawn(fiber::park);
        // None of a batch runs whose iterator panics.
        let bodies = (0..100).map(|number| if number < 99 { || () } else { resume_unwind(Box::new(())) });
        assert!(catch_unwind(AssertUnwindSafe(|| runtime.spawn_batch(bodies))).is_err());
        assert_eq!(fibers(&runtime), BTreeSet::from([parked.thread().id()]));
        parked.thread().unpark();
        parked.join().unwrap();
    }
}
