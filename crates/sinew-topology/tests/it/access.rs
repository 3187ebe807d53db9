//! What affinity mask, control groups and quota leave of a machine.

use super::set;
use super::tree::Tree;
use sinew_topology::Topology;
use sinew_topology::{Access, Cgroups, Selection, TopologyError};

fn groups(max: &str, cpus: &str) -> Cgroups {
    let tree = Tree::new();
    tree.file("proc/self/cgroup", "0::/\n")
        .file("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
        .file("sys/fs/cgroup/cpu.max", max)
        .file("sys/fs/cgroup/cpuset.cpus.effective", cpus);
    Cgroups::read(tree.root())
}

#[test]
fn cpus_are_online_masked_and_permitted() {
    let tree = Tree::machine(&["0-3", "4-7"], false);
    tree.sys("cpu/online", "0-6");
    let machine = tree.read().unwrap();
    let access = Access::new(&machine, set("2-7,5000"), groups("max", "0-4,6-7")).unwrap();
    assert_eq!(access.cpus(), &set("2-4,6"));
    assert_eq!((access.mask(), access.concurrency()), (&set("2-7,5000"), 4));
    assert!(access.notes().is_empty());
}

#[test]
fn concurrency_is_what_the_quota_takes_and_at_least_1() {
    let machine = Topology::flat(set("0-7"));
    let counts = [
        ("max", 8),
        ("1000 100000", 1),
        ("100000 100000", 1),
        ("100001 100000", 2),
        ("750000 100000", 8),
        ("690000 100000", 7),
        ("900000 100000", 8),
    ];
    for (max, concurrency) in counts {
        let access = Access::new(&machine, set("0-63"), groups(max, "")).unwrap();
        assert_eq!(access.concurrency(), concurrency, "{max}");
    }
    let one = Access::new(&machine, set("3"), groups("400000 100000", "")).unwrap();
    assert_eq!(one.concurrency(), 1);
}

#[test]
fn large_masks() {
    let machine = Topology::flat(set("0-9999"));
    let access = Access::new(&machine, set("1000-4999,20000-30000"), Cgroups::default()).unwrap();
    assert_eq!((access.cpus(), access.concurrency()), (&set("1000-4999"), 4000));
}

#[test]
fn a_mask_without_cpus_is_an_error() {
    let machine = Topology::flat(set("0-3"));
    for mask in ["", "4-7"] {
        let error = Access::new(&machine, set(mask), Cgroups::default()).unwrap_err();
        assert!(matches!(error, TopologyError::NoneAccessible { .. }));
        assert!(error.to_string().contains("0-3 are"), "{error}");
    }
}

#[test]
fn the_mask_counts_where_control_groups_contradict() {
    let machine = Topology::flat(set("0-7"));
    let access = Access::new(&machine, set("0-1"), groups("max", "4-7")).unwrap();
    assert_eq!(access.cpus(), &set("0-1"));
    assert!(access.notes()[0].contains("using 0-1"), "{:?}", access.notes());
}

#[test]
fn a_choice_counts_from_the_end_of_what_is_accessible() {
    let machine = Topology::flat(set("0-7"));
    let access = Access::new(&machine, set("0-5"), Cgroups::default()).unwrap();
    let last = Selection { allowed: Some("-2--1".parse().unwrap()), excluded: None };
    let access = access.select(&last).unwrap();
    assert_eq!((access.cpus(), access.concurrency()), (&set("4-5"), 2));
    let absent = Selection { allowed: None, excluded: Some("7".parse().unwrap()) };
    assert!(access.select(&absent).unwrap_err().to_string().contains("CPU 7"));
}

#[test]
fn this_process_may_use_something() {
    let machine = Topology::read("/sys").unwrap();
    let access = Access::of_this_process(&machine, "/").unwrap();
    assert!(access.cpus().is_subset(machine.online()));
    assert!((1..=access.cpus().len()).contains(&access.concurrency()));
    // Without a quota, which std rounds down, both numbers are the same.
    if access.quota().is_none() {
        assert_eq!(access.concurrency(), std::thread::available_parallelism().unwrap().get());
    }
}
