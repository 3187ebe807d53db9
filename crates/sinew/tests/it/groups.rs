//! Fibers in several groups of workers: where they begin, and which of them stay there.
//!
//! # Safety
//!
//! The fibers that move hold nothing of their thread.
#![expect(unsafe_code, reason = "that fibers may move is a promise")]

use super::support::{Watched, everywhere_in};
use sinew::fiber::{self, Builder, JoinHandle};
use sinew::{Runtime, RuntimeBuilder};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn runtimes(sizes: &[usize]) -> [Watched; 2] {
    let start =
        |builder: RuntimeBuilder| Watched::new(builder.groups(sizes.iter().copied()).start().unwrap());
    // SAFETY: this file's promise.
    [start(Runtime::builder()), start(unsafe { Runtime::builder().assume_migration_safe() })]
}

/// The groups in which a fiber finds itself, yield after yield.
fn groups_seen() -> HashSet<Option<usize>> {
    let seen = |_| {
        fiber::yield_now();
        fiber::current_group()
    };
    (0..200).map(seen).collect()
}

#[test]
fn all_that_fibers_do_they_do_in_several_groups() {
    everywhere_in(&[&[1, 1], &[2, 2], &[1, 3, 1]], || {
        let fibers: Vec<_> = (0..200_u64)
            .map(|number| {
                Builder::new().any_group().spawn(move || {
                    fiber::yield_now();
                    fiber::spawn(move || number).join().unwrap()
                })
            })
            .collect();
        let sum: u64 = fibers.into_iter().map(|fiber| fiber.unwrap().join().unwrap()).sum();
        assert_eq!(sum, 199 * 200 / 2);
    });
}

#[test]
fn any_group_is_one_after_the_other() {
    for groups in 1..=7 {
        // Each worker counts for itself, so that it takes fibers which stay where they are.
        let [runtime, _] = runtimes(&vec![1; groups]);
        let begin = || Builder::new().any_group().group_local(true).spawn(fiber::current_group).unwrap();
        let seen = move || (0..3 * groups).map(|_| begin().join().unwrap().unwrap()).collect::<Vec<_>>();
        for seen in [runtime.run(seen), runtime.run(seen)] {
            assert!(seen.windows(2).all(|pair| pair[1] == (pair[0] + 1) % groups), "{groups}: {seen:?}");
        }
    }
}

#[test]
fn a_fiber_begins_in_the_group_that_was_chosen() {
    for runtime in runtimes(&[1, 2, 1]) {
        assert_eq!((runtime.groups(), runtime.group_size(1), runtime.group_size(3)), (3, Some(2), None));
        assert_eq!((runtime.group_node(0), runtime.group_node(3)), (Some(0), None));
        for group in 0..3 {
            let stay = move || Builder::new().group(group).group_local(true).spawn(groups_seen).unwrap();
            let seen = runtime.run(move || stay().join().unwrap());
            assert_eq!(seen, HashSet::from([Some(group)]), "from a fiber");
        }
        assert_eq!(fiber::current_group(), None);
    }
}

#[test]
fn a_group_that_there_is_not_is_refused() {
    let [runtime, _] = runtimes(&[1, 1]);
    runtime.run(|| {
        for group in [2, usize::MAX] {
            let error = Builder::new().group(group).spawn(|| ()).unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
            assert!(error.to_string().contains("the runtime has 2"), "{error}");
        }
    });
    let limited = Watched::new(Runtime::builder().groups([1, 1]).max_fibers(2).start().unwrap());
    limited.run(|| {
        for _ in 0..10 {
            assert!(Builder::new().group(7).spawn(|| ()).is_err());
        }
        fiber::spawn(|| ()).join().expect("those that were refused do not count");
    });
}

/// Holds the only worker of the first group.
fn hold(runtime: &Watched) -> (Arc<AtomicBool>, JoinHandle<()>) {
    let (release, is_held) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (until, held) = (release.clone(), is_held.clone());
    let holder = runtime.spawn(move || {
        let hold = move || {
            held.store(true, Ordering::Relaxed);
            while !until.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        };
        Builder::new().group(0).group_local(true).spawn(hold).unwrap().join().unwrap();
    });
    while !is_held.load(Ordering::Relaxed) {
        std::thread::yield_now();
    }
    (release, holder)
}

#[test]
fn another_group_takes_what_has_not_begun_unless_it_is_to_stay() {
    for runtime in runtimes(&[1, 1]) {
        let (release, holder) = hold(&runtime);
        let stayed = Arc::new(AtomicUsize::new(0));
        let count = stayed.clone();
        let (free, local) = runtime.run(move || {
            let of_first = || Builder::new().group(0);
            let free: Vec<_> = (0..50).map(|_| of_first().spawn(fiber::current_group).unwrap()).collect();
            let note = move || {
                count.fetch_add(1, Ordering::Relaxed);
                groups_seen()
            };
            let local = of_first().group_local(true);
            let local = local.spawn(note).unwrap();
            (free.into_iter().map(|fiber| fiber.join().unwrap()).collect::<Vec<_>>(), local)
        });
        assert!(free.iter().all(|group| *group == Some(1)), "{free:?}");
        assert_eq!(stayed.load(Ordering::Relaxed), 0, "its group is busy");
        release.store(true, Ordering::Relaxed);
        assert_eq!(local.join().unwrap(), HashSet::from([Some(0)]));
        holder.join().unwrap();
    }
}

#[test]
fn fibers_for_any_group_go_to_all() {
    for runtime in runtimes(&[1, 1, 1]) {
        let groups: HashSet<_> = runtime.run(|| {
            let stay = |_| Builder::new().any_group().group_local(true).spawn(fiber::current_group);
            let fibers: Vec<_> = (0..30).map(stay).collect();
            fibers.into_iter().map(|fiber| fiber.unwrap().join().unwrap()).collect()
        });
        assert_eq!(groups.len(), 3);
    }
}

/// By turns, and not by numbers that other fibers have too.
#[test]
fn fibers_for_any_group_go_to_all_beside_others() {
    let runtime = Watched::new(Runtime::builder().groups([1, 1]).steal_within_node(0).start().unwrap());
    for stays in [false, true] {
        let groups: Vec<_> = runtime.run(move || {
            let begin = |_| {
                let fiber = Builder::new().any_group().group_local(stays).spawn(fiber::current_group);
                (fiber.unwrap(), fiber::spawn(|| ()))
            };
            let fibers: Vec<_> = (0..100).map(begin).collect();
            fibers.into_iter().map(|(fiber, _)| fiber.join().unwrap()).collect()
        });
        let first = groups.iter().filter(|group| **group == Some(0)).count();
        assert_eq!(first, 50, "{groups:?}");
    }
}

#[test]
fn children_of_a_group_are_of_that_group_if_nobody_else_is_idle() {
    let [runtime, _] = runtimes(&[1, 1]);
    let groups = runtime.run(|| {
        let parent = || {
            let child = Builder::new().group_local(true).spawn(fiber::current_group);
            (fiber::current_group(), child.unwrap().join().unwrap())
        };
        let of = |group| Builder::new().group(group).group_local(true).spawn(parent).unwrap().join().unwrap();
        [of(0), of(1)]
    });
    assert_eq!(groups, [(Some(0), Some(0)), (Some(1), Some(1))]);
}

#[test]
fn fibers_in_steps_go_on_in_any_group() {
    for runtime in runtimes(&[2, 2]) {
        let steps = runtime.spawn_steps(0, |step| {
            *step += 1;
            if *step == 500 { ControlFlow::Break(*step) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(steps.join().unwrap(), 500);
    }
}
