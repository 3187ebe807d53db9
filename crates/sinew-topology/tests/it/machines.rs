//! Machines with valid and complete files.

use super::set;
use super::tree::Tree;
use sinew_topology::Topology;

fn nodes(machine: &Topology) -> Vec<(u32, String, bool)> {
    machine.nodes().iter().map(|node| (node.id(), node.cpus().to_string(), node.has_memory())).collect()
}

fn node(id: u32, cpus: &str, has_memory: bool) -> (u32, String, bool) {
    (id, cpus.to_owned(), has_memory)
}

#[test]
fn one_to_eight_nodes() {
    for count in [1, 2, 4, 8] {
        let lists: Vec<String> = (0..count).map(|id| format!("{}-{}", id * 8, id * 8 + 7)).collect();
        let lists: Vec<&str> = lists.iter().map(String::as_str).collect();
        let machine = Tree::machine(&lists, false).read().unwrap();
        assert_eq!(machine.online().len(), count * 8);
        assert_eq!(machine.cores().len(), count * 8);
        let expected: Vec<_> =
            lists.iter().enumerate().map(|(id, cpus)| node(id as u32, cpus, true)).collect();
        assert_eq!(nodes(&machine), expected);
        assert!(machine.notes().is_empty() && machine.offline().is_empty(), "{:?}", machine.notes());
    }
}

#[test]
fn uneven_interleaved_and_high_nodes() {
    let machine = Tree::machine(&["0,2,4,6", "1", "3,5,7-20"], false).read().unwrap();
    assert_eq!(nodes(&machine), [node(0, "0,2,4,6", true), node(1, "1", true), node(2, "3,5,7-20", true)]);

    let tree = Tree::new();
    tree.sys("cpu/online", "0-1\n").sys("node/node0/cpulist", "0\n").sys("node/node128/cpulist", "1\n");
    assert_eq!(nodes(&tree.read().unwrap()), [node(0, "0", true), node(128, "1", true)]);

    tree.sys("cpu/online", "0-4999")
        .sys("node/node0/cpulist", "0-2047")
        .sys("node/node128/cpulist", "2048-4999");
    let machine = tree.read().unwrap();
    assert_eq!(nodes(&machine), [node(0, "0-2047", true), node(128, "2048-4999", true)]);
    assert_eq!(machine.cores().len(), 5000);
}

#[test]
fn nodes_without_memory_or_cpus() {
    let tree = Tree::machine(&["0-3", "4-7", ""], false);
    tree.sys("node/has_memory", "0,2\n");
    let machine = tree.read().unwrap();
    assert_eq!(nodes(&machine), [node(0, "0-3", true), node(1, "4-7", false), node(2, "", true)]);
    let with_cpus: Vec<u32> = machine.nodes_of(machine.online()).map(|node| node.id()).collect();
    assert_eq!(with_cpus, [0, 1]);
    assert_eq!(machine.nodes_of(&set("5")).count(), 1);
    assert_eq!(machine.nodes_of(&set("")).count(), 0);
}

/// Kernels that do not list the nodes with memory describe it node by node.
#[test]
fn memory_is_looked_up_node_by_node() {
    let tree = Tree::machine(&["0-3", "4-7", "8"], false);
    tree.without("sys/devices/system/node/has_memory")
        .sys("node/node0/meminfo", "\nNode 0 MemTotal:       16384 kB\nNode 0 MemFree:  0 kB\n")
        .sys("node/node1/meminfo", "Node 1 MemTotal:       0 kB\nNode 1 MemFree:  0 kB\n");
    let machine = tree.read().unwrap();
    assert_eq!(nodes(&machine), [node(0, "0-3", true), node(1, "4-7", false), node(2, "8", true)]);
    assert!(machine.notes().is_empty());
}

#[test]
fn offline_cpus_belong_to_no_node() {
    let tree = Tree::machine(&["0-3", "4-7"], true);
    tree.sys("cpu/online", "0-1,3-6\n");
    let machine = tree.read().unwrap();
    assert_eq!(machine.offline(), &set("2,7"));
    assert_eq!(nodes(&machine), [node(0, "0-1,3", true), node(1, "4-6", true)]);
    let cores: Vec<String> = machine.cores().iter().map(ToString::to_string).collect();
    assert_eq!(cores, ["0", "1,3", "4,6", "5"]);
}

#[test]
fn siblings_make_cores() {
    let cores =
        |machine: Topology| -> Vec<String> { machine.cores().iter().map(ToString::to_string).collect() };
    let tree = Tree::machine(&["0-3", "4-7"], true);
    assert_eq!(cores(tree.read().unwrap()), ["0,2", "1,3", "4,6", "5,7"]);

    // An older kernel has another name for the file. Four threads per core are nothing special.
    let tree = Tree::new();
    tree.sys("cpu/online", "0-4");
    for cpu in 0..4 {
        tree.sys(&format!("cpu/cpu{cpu}/topology/thread_siblings_list"), "0-3\n");
    }
    assert_eq!(cores(tree.read().unwrap()), ["0-3", "4"]);
}

#[test]
fn distances_are_those_between_nodes() {
    let tree = Tree::machine(&["0", "1", "2"], false);
    tree.sys("node/node0/distance", "10 21 31\n");
    tree.sys("node/node1/distance", "21 10 21\n");
    assert!(tree.read().unwrap().nodes()[0].distances().is_empty(), "node 2's are missing");
    tree.sys("node/node2/distance", "31 21 10\n");
    let machine = tree.read().unwrap();
    assert_eq!(machine.nodes()[0].distances(), [10, 21, 31]);
    assert_eq!(machine.nodes()[2].distances(), [31, 21, 10]);
    assert!(machine.notes().is_empty());
}

#[test]
fn this_machine_is_read() {
    let machine = Topology::read("/sys").unwrap();
    assert!(!machine.online().is_empty());
    let on_nodes: usize = machine.nodes().iter().map(|node| node.cpus().len()).sum();
    let on_cores: usize = machine.cores().iter().map(sinew_topology::CpuSet::len).sum();
    assert_eq!((on_nodes, on_cores), (machine.online().len(), machine.online().len()));
}
