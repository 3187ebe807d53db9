//! Fibers on a machine with several NUMA nodes: groups and their threads are on nodes, the memory
//! of stacks is where it is used, and fibers stay where they are unless it is set that they leave.
//!
//! # Safety
//!
//! The fibers that move hold nothing of their thread.
#![expect(unsafe_code, reason = "that fibers may move is a promise")]

use super::nodes::{allowed, current_node, node_of, nodes};
use super::support::Watched;
use sinew::fiber::{self, Builder, JoinHandle};
use sinew::topology::CpuSet;
use sinew::{Profile, Runtime, RuntimeBuilder};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The workers of each group.
const SIZE: usize = 2;

/// More than workers keep for themselves, so that stacks come and go through the pools.
const MANY: usize = 200;

/// A runtime with a group for each node.
fn start(nodes: &BTreeMap<usize, CpuSet>, builder: RuntimeBuilder) -> Watched {
    Watched::new(builder.numa(true).concurrency(SIZE * nodes.len()).start().unwrap())
}

fn moving() -> RuntimeBuilder {
    // SAFETY: this file's promise.
    unsafe { Runtime::builder().assume_migration_safe() }
}

fn spawn_in<T: Send + 'static>(group: usize, body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    Builder::new().group(group).group_local(true).spawn(body).unwrap()
}

#[test]
fn there_is_a_group_for_each_node_and_it_is_told() {
    let Some(nodes) = nodes() else { return };
    let runtime = start(&nodes, Runtime::builder());
    let text = runtime.describe();
    assert_eq!((runtime.groups(), runtime.workers()), (nodes.len(), SIZE * nodes.len()), "{text}");
    assert!(text.contains("NUMA on") && text.contains("NUMA was asked for"), "{text}");
    for (group, (node, cpus)) in nodes.iter().enumerate() {
        assert_eq!(
            (runtime.group_node(group), runtime.group_size(group)),
            (Some(*node), Some(SIZE)),
            "{text}"
        );
        assert!(text.contains(&format!("  node {node}: CPUs ")), "{text}");
        assert!(text.contains(&format!("  group {group}: node {node}, CPUs {cpus}")), "{text}");
    }
}

#[test]
fn computing_on_most_of_the_machine_is_on_nodes_by_itself() {
    let Some(nodes) = nodes() else { return };
    let cpus = nodes.values().map(CpuSet::len).sum();
    let builder = Runtime::builder().profile(Profile::Compute).concurrency(cpus);
    let runtime = Watched::new(builder.start().unwrap());
    let text = runtime.describe();
    let mut of_groups: Vec<_> = (0..runtime.groups()).filter_map(|group| runtime.group_node(group)).collect();
    of_groups.dedup();
    assert_eq!(of_groups, nodes.keys().copied().collect::<Vec<_>>(), "{text}");
    assert!(text.contains("each node has groups of its own"), "{text}");
}

#[test]
fn fibers_run_on_the_node_of_their_group() {
    let Some(nodes) = nodes() else { return };
    for builder in [Runtime::builder(), moving()] {
        let runtime = start(&nodes, builder);
        for (group, (node, cpus)) in nodes.iter().enumerate() {
            let places = runtime.run(move || {
                let look = || {
                    fiber::yield_now();
                    (allowed(), current_node())
                };
                let fibers: Vec<_> = (0..20).map(|_| spawn_in(group, look)).collect();
                fibers.into_iter().map(|fiber| fiber.join().unwrap()).collect::<Vec<_>>()
            });
            assert!(places.iter().all(|place| *place == (cpus.clone(), *node)), "node {node}: {places:?}");
        }
    }
}

/// The nodes of a fiber's stack: of some pages, from where it is now downwards.
#[inline(never)]
fn nodes_of_stack() -> Vec<usize> {
    let stack = black_box([1_u8; 40 << 10]);
    stack.chunks(16 << 10).map(|chunk| node_of(&chunk[0])).collect()
}

/// Has many fibers at a time in each group, one group after the other, and looks where the memory
/// of their stacks is.
fn look_at_stacks(runtime: &Watched, nodes: &BTreeMap<usize, CpuSet>) {
    for (group, node) in nodes.keys().enumerate() {
        let found = runtime.run(move || {
            let begun = Arc::new(AtomicUsize::new(0));
            let fibers: Vec<_> =
                (0..MANY).map(|_| spawn_in(group, look_while_there_are(MANY, &begun))).collect();
            fibers.into_iter().flat_map(|fiber| fiber.join().unwrap()).collect::<Vec<_>>()
        });
        let elsewhere = found.iter().filter(|found| *found != node).count();
        assert_eq!(elsewhere, 0, "of {} pages of stacks for node {node}", found.len());
    }
}

/// Returns the body of a fiber, which looks at its stack once `count` fibers have one.
fn look_while_there_are(count: usize, begun: &Arc<AtomicUsize>) -> impl FnOnce() -> Vec<usize> + use<> {
    let begun = begun.clone();
    move || {
        begun.fetch_add(1, Ordering::Relaxed);
        while begun.load(Ordering::Relaxed) < count {
            fiber::yield_now();
        }
        nodes_of_stack()
    }
}

#[test]
fn stacks_are_in_the_memory_of_the_node_that_uses_them() {
    let Some(nodes) = nodes() else { return };
    for builder in [Runtime::builder(), Runtime::builder().prewarm(2 * MANY)] {
        let runtime = start(&nodes, builder);
        // Twice: the second time, the stacks exist already.
        look_at_stacks(&runtime, &nodes);
        look_at_stacks(&runtime, &nodes);
    }
}

/// A fiber that has moved to another node ends there, and its stack goes back to where its memory
/// is.
#[test]
fn stacks_go_home_from_fibers_that_have_left_their_node() {
    let Some(nodes) = nodes() else { return };
    let runtime = start(&nodes, moving().steal_across_nodes(1));
    let away = runtime.run(|| {
        let begun = Arc::new(AtomicUsize::new(0));
        let roam = |_| {
            let begun = begun.clone();
            let body = move || {
                begun.fetch_add(1, Ordering::Relaxed);
                let home = node_of(&black_box(1_u8));
                while begun.load(Ordering::Relaxed) < MANY {
                    fiber::yield_now();
                }
                // Those that find themselves elsewhere end there, if no other worker takes them
                // once more.
                (0..200).any(|_| {
                    fiber::yield_now();
                    current_node() != home
                })
            };
            Builder::new().group(0).spawn(body).unwrap()
        };
        let fibers: Vec<_> = (0..MANY).map(roam).collect();
        fibers.into_iter().map(|fiber| fiber.join().unwrap()).filter(|is_away| *is_away).count()
    });
    assert!(away > 0, "none has moved");
    look_at_stacks(&runtime, &nodes);
}

/// Holds all workers of the first group. For a fiber of another one.
fn hold() -> (Arc<AtomicBool>, Vec<JoinHandle<()>>) {
    let (release, held) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let hold = |_| {
        let (until, count) = (release.clone(), held.clone());
        spawn_in(0, move || {
            count.fetch_add(1, Ordering::Relaxed);
            while !until.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        })
    };
    let holders = (0..SIZE).map(hold).collect();
    while held.load(Ordering::Relaxed) < SIZE {
        fiber::yield_now();
    }
    (release, holders)
}

/// Sends fibers to the first group, whose workers are all held. Returns how many ran before those
/// of another group were done with much else, and where each ran and had its stack.
fn send_to_a_busy_group(leave: bool) -> (usize, Vec<(usize, usize)>) {
    let (release, holders) = hold();
    let ran = Arc::new(AtomicUsize::new(0));
    let spawn = |_| {
        let ran = ran.clone();
        let body = move || {
            ran.fetch_add(1, Ordering::Relaxed);
            (current_node(), node_of(&black_box(1_u8)))
        };
        Builder::new().group(0).spawn(body).unwrap()
    };
    let fibers: Vec<_> = (0..100).map(spawn).collect();
    (0..200).for_each(|_| spawn_in(1, fiber::yield_now).join().unwrap());
    while leave && ran.load(Ordering::Relaxed) < fibers.len() {
        fiber::yield_now();
    }
    let ran = ran.load(Ordering::Relaxed);
    release.store(true, Ordering::Relaxed);
    holders.into_iter().for_each(|holder| holder.join().unwrap());
    (ran, fibers.into_iter().map(|fiber| fiber.join().unwrap()).collect())
}

#[test]
fn fibers_that_have_not_begun_leave_their_node_only_if_that_is_on() {
    let Some(nodes) = nodes() else { return };
    for rounds in [0, 1, 16] {
        let runtime = start(&nodes, Runtime::builder().steal_across_nodes(rounds));
        let send = move || spawn_in(1, move || send_to_a_busy_group(rounds > 0)).join().unwrap();
        let (ran, places) = runtime.run(send);
        assert_eq!(ran, if rounds > 0 { places.len() } else { 0 });
        let first = *nodes.keys().next().unwrap();
        assert!(places.iter().all(|(node, _)| (*node == first) == (rounds == 0)), "{rounds}: {places:?}");
        assert!(places.iter().all(|(node, memory)| node == memory), "{rounds}: {places:?}");
    }
}
