//! The CPUs that workers may run on.

use super::set;
use super::tree::Tree;
use sinew_topology::{CpuSet, Profile, Topology};
use sinew_topology::{Demand, Layout, PinError, Pinning};

fn layout(concurrency: usize, nodes: usize, size: usize, numa: bool) -> Layout {
    let profile = Profile::Customized;
    let demand =
        Demand { profile, concurrency, nodes, cpus: concurrency, group_size: Some(size), numa: Some(numa) };
    demand.layout().unwrap()
}

/// Returns the CPU of each worker, group by group.
fn own(pinning: &Pinning, layout: &Layout) -> Vec<Vec<u32>> {
    let cpu = |group, worker| {
        let cpus = pinning.worker(group, worker).unwrap();
        assert_eq!(cpus.len(), 1);
        cpus.first().unwrap()
    };
    let group = |group| (0..layout.group_size()).map(|worker| cpu(group, worker)).collect();
    (0..layout.groups()).map(group).collect()
}

#[test]
fn groups_have_the_accessible_cpus_of_their_node() {
    for count in [1, 2, 4, 8] {
        let lists: Vec<String> = (0..count).map(|id| format!("{}-{}", id * 8, id * 8 + 7)).collect();
        let lists: Vec<&str> = lists.iter().map(String::as_str).collect();
        let machine = Tree::machine(&lists, false).read().unwrap();
        let accessible = machine.online() - &set("0,9");
        let layout = layout(count * 8, count, 4, true);
        let pinning = Pinning::shared(&machine, &accessible, &layout).unwrap();
        assert_eq!((pinning.groups(), pinning.is_one_per_cpu()), (2 * count, false));
        for group in 0..2 * count {
            let node = &machine.nodes()[group / 2];
            assert_eq!(pinning.node(group), Some(node.id()));
            assert_eq!(pinning.group(group), Some(node.cpus() & &accessible));
            assert_eq!(pinning.worker(group, 3), pinning.group(group));
        }
        assert_eq!(
            (pinning.group(2 * count), pinning.node(2 * count), pinning.worker(2 * count, 0)),
            (None, None, None)
        );
    }
}

#[test]
fn without_numa_every_group_has_all() {
    let machine = Tree::machine(&["0-3", "4-7"], false).read().unwrap();
    let layout = layout(8, 2, 4, false);
    let pinning = Pinning::shared(&machine, &set("1-6"), &layout).unwrap();
    for group in 0..2 {
        assert_eq!((pinning.group(group), pinning.node(group)), (Some(set("1-6")), None));
    }
}

/// Nodes without accessible CPUs, or without any CPU, get no group. Nodes without memory do.
#[test]
fn groups_go_to_nodes_with_cpus() {
    let tree = Tree::machine(&["", "0-3", "4-7", "8-11"], false);
    tree.sys("node/has_memory", "0-1,3");
    let machine = tree.read().unwrap();
    let layout = layout(8, 2, 4, true);
    let pinning = Pinning::shared(&machine, &set("4-11"), &layout).unwrap();
    assert_eq!([pinning.node(0), pinning.node(1)], [Some(2), Some(3)]);
    let error = Pinning::shared(&machine, machine.online(), &layout).unwrap_err();
    assert_eq!(error, PinError::Nodes { expected: 2, found: 3 });
    assert!(error.to_string().contains("for 2 nodes, but 3 have"), "{error}");
    let error = Pinning::shared(&machine, &set("0"), &layout).unwrap_err();
    assert_eq!(error, PinError::Nodes { expected: 2, found: 1 });
}

#[test]
fn one_per_cpu_takes_siblings_last() {
    let machine = Tree::machine(&["0-7"], true).read().unwrap();
    let dealt = |concurrency, size| {
        let layout = layout(concurrency, 1, size, false);
        own(&Pinning::one_per_cpu(&machine, machine.online(), &layout).unwrap(), &layout)
    };
    assert_eq!(dealt(4, 2), [[0, 1], [2, 3]]);
    assert_eq!(dealt(6, 3), [[0, 1, 2], [3, 4, 5]]);
    assert_eq!(dealt(8, 8), [[0, 1, 2, 3, 4, 5, 6, 7]]);

    // If neighbors are siblings, every second CPU comes first.
    let tree = Tree::machine(&["0-3", "4-7"], false);
    for cpu in 0..8 {
        let core = format!("{}-{}", cpu / 2 * 2, cpu / 2 * 2 + 1);
        tree.sys(&format!("cpu/cpu{cpu}/topology/core_cpus_list"), &core);
    }
    let machine = tree.read().unwrap();
    let off = layout(6, 2, 3, false);
    let pinning = Pinning::one_per_cpu(&machine, machine.online(), &off).unwrap();
    assert_eq!(own(&pinning, &off), [[0, 2, 4], [6, 1, 3]]);
    let on = layout(6, 2, 3, true);
    let pinning = Pinning::one_per_cpu(&machine, machine.online(), &on).unwrap();
    assert_eq!(own(&pinning, &on), [[0, 2, 1], [4, 6, 5]]);
    assert_eq!(pinning.group(0), Some(set("0-2")));
    assert_eq!((pinning.worker(0, 3), pinning.is_one_per_cpu()), (None, true));
    // A sibling that is not accessible takes no place.
    let pinning = Pinning::one_per_cpu(&machine, &set("1-7"), &off).unwrap();
    assert_eq!(own(&pinning, &off), [[1, 2, 4], [6, 3, 5]]);
}

/// Interleaved nodes: the CPUs of a group are close to each other, also without NUMA.
#[test]
fn one_per_cpu_goes_node_by_node() {
    let machine = Tree::machine(&["0,2,4,6", "1,3,5,7"], false).read().unwrap();
    let layout = layout(8, 2, 4, false);
    let pinning = Pinning::one_per_cpu(&machine, machine.online(), &layout).unwrap();
    assert_eq!(own(&pinning, &layout), [[0, 2, 4, 6], [1, 3, 5, 7]]);
}

#[test]
fn no_cpu_is_given_twice() {
    let machine = Tree::machine(&["0-15", "16-31", "32-47", "48-63"], true).read().unwrap();
    for (size, numa) in [1, 2, 4, 8, 16].into_iter().flat_map(|size| [false, true].map(|numa| (size, numa))) {
        let layout = layout(64, 4, size, numa);
        let pinning = Pinning::one_per_cpu(&machine, machine.online(), &layout).unwrap();
        let mut all = CpuSet::new();
        for cpu in own(&pinning, &layout).into_iter().flatten() {
            assert!(!all.contains(cpu), "{cpu} twice");
            all = &all | &CpuSet::from_range(cpu..=cpu);
        }
        assert_eq!(&all, machine.online());
    }
}

#[test]
fn more_workers_than_cpus_cannot_have_one_each() {
    let machine = Topology::flat(set("0-7"));
    let layout9 = layout(9, 1, 3, false);
    let error = Pinning::one_per_cpu(&machine, machine.online(), &layout9).unwrap_err();
    assert_eq!(error, PinError::TooManyWorkers { workers: 9, cpus: 8, node: None });
    assert!(error.to_string().contains("9 workers cannot each have one of 8 CPUs"), "{error}");

    // There are enough CPUs on the machine, but not on the second node.
    let machine = Tree::machine(&["0-5", "6-7"], false).read().unwrap();
    let on = layout(8, 2, 2, true);
    let error = Pinning::one_per_cpu(&machine, machine.online(), &on).unwrap_err();
    assert_eq!(error, PinError::TooManyWorkers { workers: 4, cpus: 2, node: Some(1) });
    assert!(error.to_string().contains("on node 1"), "{error}");
    let off = layout(8, 2, 2, false);
    assert!(Pinning::one_per_cpu(&machine, machine.online(), &off).is_ok());
}
