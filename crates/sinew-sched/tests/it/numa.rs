//! Pools on a machine with several NUMA nodes: the topology is read right, workers run on the nodes
//! of their groups, their shared memory is there, and tasks stay there unless the settings let them
//! leave.
//!
//! Skipped on a machine with one node, unless `SINEW_REQUIRE_NODES` says how many there must be.
//! These tests read the kernel's files about nodes themselves, so that the crate is not compared
//! with itself.

use crate::groups::{Held, run_in};
use crate::pinned::{affinity_errors, allowed};
use crate::support::{Countdown, Watched, wait_until};
use sinew_sched::topology::{Plan, Wishes};
use sinew_sched::{
    Builder, Context, CpuSet, Driver, FutexDriver, Placement, Pool, Profile, TaskRef, Topology,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The kernel's files about nodes.
const NODES: &str = "/sys/devices/system/node";

/// The number of workers of each group.
const SIZE: usize = 2;

/// Returns the nodes where this process may run: their numbers and CPUs. If there are not two with
/// memory, prints that and returns none.
fn nodes() -> Option<BTreeMap<usize, CpuSet>> {
    let read = |path: &str| fs::read_to_string(Path::new(NODES).join(path)).unwrap_or_default();
    let list = |path: &str| read(path).trim().parse().unwrap_or_else(|_| CpuSet::new());
    let cpus = |node: u32| &list(&format!("node{node}/cpulist")) & &allowed();
    let all = list("has_memory").iter().map(|node| (node as usize, cpus(node))).collect::<Vec<_>>();
    let found: BTreeMap<_, _> = all.into_iter().filter(|(_, cpus)| !cpus.is_empty()).collect();
    let required = std::env::var("SINEW_REQUIRE_NODES").map_or(0, |count| count.parse().expect("a number"));
    assert!(found.len() >= required, "{required} nodes are required here: {found:?}");
    if found.len() < 2 {
        eprintln!("skipped: it takes two nodes");
        return None;
    }
    Some(found)
}

/// Returns the node on which the calling thread runs, by the kernel's link from the CPU to it.
fn current_node(nodes: &BTreeMap<usize, CpuSet>) -> Option<usize> {
    let cpu = rustix::thread::sched_getcpu();
    let is_there = |node: &usize| Path::new(&format!("/sys/devices/system/cpu/cpu{cpu}/node{node}")).exists();
    nodes.keys().copied().find(is_there)
}

/// Returns a plan with a group for each node.
fn plan(nodes: &BTreeMap<usize, CpuSet>) -> Plan {
    let wishes = Wishes { concurrency: Some(SIZE * nodes.len()), numa: Some(true), ..Wishes::default() };
    Plan::for_this_process("/", &wishes).unwrap()
}

fn start(nodes: &BTreeMap<usize, CpuSet>, set: impl FnOnce(Builder) -> Builder) -> Watched {
    Watched::with(set(Pool::builder().plan(&plan(nodes))).build().unwrap())
}

#[test]
fn the_machine_is_seen_as_the_kernel_tells() {
    let Some(nodes) = nodes() else { return };
    let machine = Topology::read("/sys").unwrap();
    let accessible = allowed();
    let seen = machine.nodes_of(&accessible).map(|node| (node.id() as usize, node.cpus() & &accessible));
    assert_eq!(seen.collect::<BTreeMap<_, _>>(), nodes);
    for (index, node) in machine.nodes().iter().enumerate() {
        assert!(node.has_memory() || !nodes.contains_key(&(node.id() as usize)), "{node:?}");
        let distances = node.distances();
        let is_near = |(other, distance): (usize, &u32)| (*distance == 10) == (other == index);
        assert!(distances.iter().enumerate().all(is_near), "{node:?}");
        assert_eq!(distances.len(), machine.nodes().len());
    }
}

#[test]
fn there_is_a_group_for_each_node_if_that_is_asked_for() {
    let Some(nodes) = nodes() else { return };
    let watched = start(&nodes, |builder| builder);
    let handle = watched.handle();
    let groups: Vec<_> = (0..handle.groups()).map(|group| handle.group_node(group).unwrap()).collect();
    assert_eq!(groups, nodes.keys().copied().collect::<Vec<_>>());
    assert!((0..groups.len()).all(|group| handle.group_size(group) == Some(SIZE)));
    watched.finish();
}

#[test]
fn computing_on_most_of_the_machine_is_on_nodes_by_itself() {
    let Some(nodes) = nodes() else { return };
    let concurrency = Some(nodes.values().map(CpuSet::len).sum());
    let wishes = Wishes { profile: Profile::Compute, concurrency, ..Wishes::default() };
    let plan = Plan::for_this_process("/", &wishes).unwrap();
    let of_groups = (0..plan.layout().groups()).map(|group| plan.pinning().node(group).unwrap() as usize);
    let mut of_groups: Vec<_> = of_groups.collect();
    of_groups.dedup();
    assert_eq!(of_groups, nodes.keys().copied().collect::<Vec<_>>(), "{plan}");
}

/// What a worker finds: its group's node, where it may run, and where it runs.
type Found = (usize, CpuSet, usize);

fn note(nodes: &BTreeMap<usize, CpuSet>, found: &Arc<Mutex<Vec<Found>>>) -> TaskRef {
    let (nodes, found) = (nodes.clone(), found.clone());
    TaskRef::new(move |context: &Context<'_>| {
        let place = (context.node().unwrap(), allowed(), current_node(&nodes).unwrap());
        found.lock().unwrap().push(place);
    })
}

#[test]
fn workers_run_on_the_nodes_of_their_groups() {
    let Some(nodes) = nodes() else { return };
    let watched = start(&nodes, |builder| builder);
    let (handle, found) = (watched.handle(), Arc::new(Mutex::new(Vec::new())));
    for worker in 0..handle.workers() {
        handle.submit(note(&nodes, &found), Placement::Worker(worker)).unwrap();
    }
    wait_until(|| found.lock().unwrap().len() == handle.workers());
    for (node, allowed, current) in found.lock().unwrap().iter() {
        assert_eq!((allowed, current), (&nodes[node], node));
    }
    assert!(affinity_errors(&watched).iter().all(|errors| *errors == 0));
    watched.finish();
}

#[test]
fn a_worker_with_a_cpu_of_its_own_has_one_of_its_node() {
    let Some(nodes) = nodes() else { return };
    let wishes =
        Wishes { concurrency: Some(nodes.len()), numa: Some(true), one_per_cpu: true, ..Wishes::default() };
    let plan = Plan::for_this_process("/", &wishes).unwrap();
    let watched = Watched::with(Pool::builder().plan(&plan).build().unwrap());
    let (handle, found) = (watched.handle(), Arc::new(Mutex::new(Vec::new())));
    for worker in 0..handle.workers() {
        handle.submit(note(&nodes, &found), Placement::Worker(worker)).unwrap();
    }
    wait_until(|| found.lock().unwrap().len() == nodes.len());
    for (node, allowed, current) in found.lock().unwrap().iter() {
        assert!(allowed.len() == 1 && allowed.is_subset(&nodes[node]), "{allowed} on node {node}");
        assert_eq!(current, node);
    }
    watched.finish();
}

/// All workers of a group block, so that a spare worker runs the tasks for the group alone.
#[test]
fn spare_workers_run_on_the_node_of_their_group() {
    let Some(nodes) = nodes() else { return };
    let watched = start(&nodes, |builder| builder);
    let handle = watched.handle();
    for (group, (node, cpus)) in nodes.iter().enumerate() {
        let (begun, gate, done) = (Countdown::new(SIZE), Countdown::new(1), Countdown::new(SIZE));
        for worker in group * SIZE..(group + 1) * SIZE {
            let (begun, gate, done) = (begun.clone(), gate.clone(), done.clone());
            let block = TaskRef::new(move |context: &Context<'_>| {
                context.block(|| {
                    begun.count_down();
                    gate.wait();
                });
                done.count_down();
            });
            handle.submit(block, Placement::Worker(worker)).unwrap();
        }
        begun.wait();
        let found = Arc::new(Mutex::new(Vec::new()));
        handle.submit(note(&nodes, &found), Placement::GroupOnly(group)).unwrap();
        wait_until(|| !found.lock().unwrap().is_empty());
        assert_eq!(*found.lock().unwrap(), [(*node, cpus.clone(), *node)]);
        gate.count_down();
        done.wait();
    }
    watched.finish();
}

/// A worker's driver is made on the node where all that its group shares is made.
#[test]
fn what_a_group_shares_is_made_on_its_node() {
    let Some(nodes) = nodes() else { return };
    let made = Arc::new(Mutex::new(Vec::new()));
    let (all, note) = (nodes.clone(), made.clone());
    let make = move |worker: usize| {
        note.lock().unwrap().push((worker, current_node(&all).unwrap()));
        Ok(Box::new(FutexDriver::default()) as Box<dyn Driver>)
    };
    let watched = start(&nodes, |builder| builder.driver(make));
    let of_workers = nodes.keys().flat_map(|node| std::iter::repeat_n(*node, SIZE));
    assert_eq!(*made.lock().unwrap(), of_workers.enumerate().collect::<Vec<_>>());
    watched.finish();
}

/// Returns how much memory this process has on a node, in KiB. Each line is about a mapping, and
/// has the number of its pages on each node.
fn memory_on(node: usize) -> usize {
    let maps = fs::read_to_string("/proc/self/numa_maps").unwrap();
    let (on_node, size) = (format!("N{node}="), "kernelpagesize_kB=");
    let number = |line: &str, name: &str| {
        let mut words = line.split_whitespace();
        words.find_map(|word| word.strip_prefix(name)).map_or(0, |count| count.parse::<usize>().unwrap())
    };
    maps.lines().map(|line| number(line, &on_node) * number(line, size)).sum()
}

/// The queues are much larger than all that other tests use meanwhile.
#[test]
fn the_queue_of_a_group_is_in_the_memory_of_its_node() {
    let Some(nodes) = nodes() else { return };
    let capacity = 1 << 21;
    // A place in a queue is a task and a number, of 16 bytes.
    let size = capacity / 64;
    let before: Vec<_> = nodes.keys().map(|node| memory_on(*node)).collect();
    let watched = start(&nodes, |builder| builder.queue_capacity(capacity));
    for (node, before) in nodes.keys().zip(before) {
        let more = memory_on(*node).saturating_sub(before);
        assert!(2 * more > size && 2 * more < 3 * size, "{more} of {size} KiB on node {node}");
    }
    watched.finish();
}

#[test]
fn a_loaded_group_is_drained_by_another_nodes_only_if_that_is_on() {
    let Some(nodes) = nodes() else { return };
    for rounds in [0, 1, 16] {
        let watched = start(&nodes, |builder| builder.steal_across_nodes(rounds));
        let held = Held::all(&watched, 0..SIZE);
        let tasks = run_in(&watched, Placement::Group(0), 200);
        if rounds > 0 {
            wait_until(|| tasks.lock().unwrap().len() == 200);
            assert!(tasks.lock().unwrap().iter().all(|group| *group != 0), "no other worker is free");
        } else {
            // The other node's workers are free, run their own tasks, and have looked for more.
            for _ in 0..10 {
                let own = run_in(&watched, Placement::Group(1), 100);
                wait_until(|| own.lock().unwrap().len() == 100);
            }
            assert_eq!(tasks.lock().unwrap().len(), 0);
        }
        let remote: u64 = watched.handle().stats().workers.iter().map(|worker| worker.steals_remote).sum();
        assert_eq!(remote > 0, rounds > 0);
        drop(held);
        wait_until(|| tasks.lock().unwrap().len() == 200);
        watched.finish();
    }
}
