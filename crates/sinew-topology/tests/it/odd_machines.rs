//! Machines whose files are missing, unreadable or invalid: a default with a note, or an error that
//! names the file.

use super::set;
use super::tree::Tree;
use sinew_topology::Topology;
use sinew_topology::TopologyError;

fn two_nodes() -> Tree {
    Tree::machine(&["0-1", "2-3"], false)
}

const SYSTEM: &str = "sys/devices/system";

#[test]
fn without_nodes_all_cpus_are_one_node() {
    let all = Topology::flat(set("0-3"));
    let tree = two_nodes();
    tree.without("sys/devices/system/node");
    let machine = tree.read().unwrap();
    assert_eq!(machine.nodes(), all.nodes());
    assert!(machine.notes()[0].contains("one node"), "{:?}", machine.notes());

    let tree = two_nodes();
    tree.sys("node/node0/cpulist", "\n").sys("node/node1/cpulist", "\n");
    let machine = tree.read().unwrap();
    assert_eq!(machine.nodes(), all.nodes());
    assert!(machine.notes()[0].contains("no node has a CPU"), "{:?}", machine.notes());

    // A directory that contains only other names.
    let tree = two_nodes();
    tree.without("sys/devices/system/node").sys("node/node+1/cpulist", "0").sys("node/node01/cpulist", "0");
    assert_eq!(tree.read().unwrap().nodes(), all.nodes());
}

#[test]
fn a_cpu_that_no_node_lists_goes_to_the_first_node() {
    let tree = Tree::machine(&["", "1", "2-3"], false);
    tree.sys("cpu/online", "0-5\n");
    let machine = tree.read().unwrap();
    assert_eq!(machine.nodes()[1].cpus(), &set("0-1,4-5"));
    assert!(machine.notes()[0].contains("CPUs 0,4-5 are on no node"), "{:?}", machine.notes());
}

#[test]
fn a_node_without_a_list_has_no_cpus() {
    let tree = two_nodes();
    tree.without("sys/devices/system/node/node1/cpulist")
        .sys("cpu/online", "0-1")
        .sys("node/node1/other", "");
    let machine = tree.read().unwrap();
    assert!(machine.nodes()[1].cpus().is_empty());
    assert_eq!(machine.notes().len(), 1, "{:?}", machine.notes());
    // The kernel's list agrees, so there is no note.
    tree.sys("node/has_cpu", "0\n");
    assert!(tree.read().unwrap().notes().is_empty());
}

#[test]
fn without_a_list_the_directories_count() {
    let tree = Tree::new();
    tree.sys("cpu/cpu0/x", "").sys("cpu/cpu1/online", "1\n").sys("cpu/cpu2/online", "0\n");
    tree.sys("cpu/cpu10/online", "1\n").sys("cpu/cpufreq/x", "").sys("cpu/cpu007/x", "");
    let machine = tree.read().unwrap();
    assert_eq!(machine.online(), &set("0-1,10"));
    assert!(machine.notes()[0].contains("directory"), "{:?}", machine.notes());

    let wrong = tree.sys("cpu/cpu1/online", "maybe\n").read().unwrap_err();
    assert!(wrong.to_string().contains("cpu1/online") && wrong.to_string().contains("maybe"), "{wrong}");
    tree.sys("cpu/cpu1/online", "1").sys("cpu/cpu65536/x", "");
    assert!(tree.read().unwrap_err().to_string().contains("CPU 65536"));
}

#[test]
fn no_cpus_at_all_is_an_error() {
    for text in [None, Some(""), Some("\n")] {
        let tree = Tree::new();
        text.map(|text| tree.sys("cpu/online", text));
        let error = tree.read().unwrap_err();
        assert!(matches!(&error, TopologyError::NoCpus { path } if path.ends_with("cpu")), "{error}");
    }
    assert!(matches!(Topology::read("/nowhere"), Err(TopologyError::NoCpus { .. })));
}

#[test]
fn an_invalid_file_about_cpus_and_nodes_is_an_error_that_names_it() {
    let wrong = ["0-", "zero", "3-1", "-1", "0-4294967295", "65536", "\u{0}", "0-3,"];
    for (path, text) in
        ["cpu/online", "node/node1/cpulist"].iter().flat_map(|path| wrong.map(|text| (path, text)))
    {
        let tree = two_nodes();
        let error = tree.sys(path, text).read().unwrap_err();
        assert!(
            matches!(&error, TopologyError::Nonsense { path: at, .. } if at.ends_with(path)),
            "{text:?}: {error}"
        );
        assert!(error.to_string().contains(path), "{error}");
    }
    let tree = two_nodes();
    let error = tree.sys("node/node4096/cpulist", "").read().unwrap_err();
    assert!(error.to_string().contains("node 4096"), "{error}");
}

#[test]
fn bytes_that_are_not_text_are_invalid() {
    let tree = two_nodes();
    std::fs::write(tree.path("sys/devices/system/cpu/online"), [0xff, 0xfe]).unwrap();
    assert!(matches!(tree.read(), Err(TopologyError::Nonsense { .. })));
}

#[test]
fn a_cpu_on_two_nodes_is_an_error() {
    let tree = Tree::machine(&["0-3", "4-7", "6-9"], false);
    let error = tree.read().unwrap_err();
    assert!(
        matches!(&error, TopologyError::Shared { nodes: (1, 2), cpus } if *cpus == set("6-7")),
        "{error}"
    );
}

#[test]
fn unreadable_and_endless_files_about_cpus_and_nodes_are_errors() {
    for path in ["cpu/online", "node/node1/cpulist"] {
        let full = format!("{SYSTEM}/{path}");
        let tree = two_nodes();
        let error = tree.spoil(&full).read().unwrap_err();
        assert!(
            matches!(&error, TopologyError::Unreadable { path: at, .. } if at.ends_with(path)),
            "{error}"
        );
        assert!(std::error::Error::source(&error).is_some());
        let tree = two_nodes();
        let error = tree.inflate(&full, 1 << 30).read().unwrap_err();
        assert!(error.to_string().contains("longer than any"), "{error}");
    }
}

/// Files that are useful but not needed: they count as missing, with a note.
#[test]
fn trouble_with_other_files_is_a_note() {
    let rest = ["cpu/present", "node/has_memory", "cpu/cpu0/topology/core_cpus_list", "node/node1/distance"];
    let plain = {
        let tree = two_nodes();
        tree.read().unwrap()
    };
    for path in rest {
        for trouble in ["text", "number", "range", "directory", "long"] {
            let tree = two_nodes();
            tree.sys("node/node0/distance", "10 20").sys("node/node1/distance", "20 10");
            let full = format!("{SYSTEM}/{path}");
            match trouble {
                "text" => tree.sys(path, "no list"),
                "number" => tree.sys(path, "99999999999999"),
                "range" => tree.sys(path, "0-4294967295"),
                "directory" => tree.spoil(&full),
                _ => tree.inflate(&full, 1 << 30),
            };
            let machine = tree.read().unwrap_or_else(|error| panic!("{path} {trouble}: {error}"));
            assert_eq!(machine.notes().len(), 1, "{path} {trouble}: {:?}", machine.notes());
            assert!(machine.notes()[0].contains(path), "{:?}", machine.notes());
            assert!(machine.notes()[0].len() < 400, "{:?}", machine.notes());
            assert_eq!((machine.cores(), machine.offline()), (plain.cores(), plain.offline()));
            assert!(machine.nodes().iter().all(sinew_topology::Node::has_memory));
            let has_distances = path != "node/node1/distance";
            assert_eq!(!machine.nodes()[0].distances().is_empty(), has_distances, "{path}");
        }
    }
}

#[test]
fn distances_must_be_as_many_as_nodes() {
    let tree = two_nodes();
    tree.sys("node/node0/distance", "10 20 30").sys("node/node1/distance", "20 10");
    let machine = tree.read().unwrap();
    assert!(machine.nodes().iter().all(|node| node.distances().is_empty()));
    assert!(machine.notes()[0].contains("3 distances for 2 nodes"), "{:?}", machine.notes());
}

#[test]
fn a_cpu_that_is_not_its_own_sibling_is_a_core() {
    let tree = two_nodes();
    for cpu in 0..4 {
        tree.sys(&format!("cpu/cpu{cpu}/topology/core_cpus_list"), "9\n");
    }
    let machine = tree.read().unwrap();
    assert_eq!(machine.cores().len(), 4);
    assert_eq!(machine.notes().len(), 1, "one note for all: {:?}", machine.notes());
    assert!(machine.notes()[0].contains("each of CPUs 0-3"), "{:?}", machine.notes());
}

/// CPU 0 lists CPU 1, which lists CPUs 1 and 2: every CPU is still in exactly one core.
#[test]
fn siblings_that_disagree_are_in_one_core_each() {
    let tree = Tree::machine(&["0-3"], false);
    tree.sys("cpu/cpu0/topology/core_cpus_list", "0-1").sys("cpu/cpu2/topology/core_cpus_list", "1-2");
    let cores: Vec<String> = tree.read().unwrap().cores().iter().map(ToString::to_string).collect();
    assert_eq!(cores, ["0-1", "2", "3"]);
}

#[test]
fn a_node_with_invalid_memory_counts_as_one_with_memory() {
    let tree = two_nodes();
    tree.without("sys/devices/system/node/has_memory")
        .sys("node/node0/meminfo", "Node 0 MemTotal: lots kB\n");
    tree.spoil("sys/devices/system/node/node1/meminfo");
    let machine = tree.read().unwrap();
    assert!(machine.nodes().iter().all(sinew_topology::Node::has_memory));
    assert_eq!(machine.notes().len(), 2, "{:?}", machine.notes());
}

#[test]
fn a_flat_machine_of_all_numbers_is_bounded() {
    let machine = Topology::flat(set("0-4294967295"));
    assert_eq!((machine.online(), machine.cores().len()), (&set("0-65535"), 65536));
}
