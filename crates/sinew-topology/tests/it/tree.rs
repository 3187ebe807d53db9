//! A directory that describes a machine, and is removed with the test.

use super::set;
use sinew_topology::TopologyError;
use sinew_topology::{CpuSet, Topology};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A root directory that contains `sys` and `proc`.
pub(super) struct Tree {
    root: PathBuf,
}

impl Tree {
    pub(super) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("sinew-topology-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let root = std::env::temp_dir().join(name);
        fs::create_dir(&root).unwrap();
        Self { root }
    }

    /// Creates a machine whose nodes have these CPUs, all of them with memory. With `smt`, each
    /// core has two threads: CPU n and the CPU half of a node later.
    pub(super) fn machine(nodes: &[&str], smt: bool) -> Self {
        let tree = Self::new();
        let sets: Vec<CpuSet> = nodes.iter().map(|list| set(list)).collect();
        let online = sets.iter().fold(CpuSet::new(), |all, set| &all | set);
        tree.sys("cpu/online", &format!("{online}\n")).sys("cpu/present", &format!("{online}\n"));
        for (id, node) in sets.iter().enumerate() {
            tree.sys(&format!("node/node{id}/cpulist"), &format!("{node}\n"));
            let half = node.len() / 2;
            for (index, cpu) in node.iter().enumerate() {
                let siblings = match smt {
                    true => [node.nth(index % half), node.nth(index % half + half)],
                    false => [Some(cpu), None],
                };
                let siblings: CpuSet = siblings.into_iter().flatten().collect();
                tree.sys(&format!("cpu/cpu{cpu}/topology/core_cpus_list"), &format!("{siblings}\n"));
            }
        }
        tree.sys("node/has_memory", &format!("0-{}\n", nodes.len() - 1));
        tree
    }

    /// Writes a file below `sys/devices/system`.
    pub(super) fn sys(&self, path: &str, text: &str) -> &Self {
        self.file(&format!("sys/devices/system/{path}"), text)
    }

    pub(super) fn file(&self, path: &str, text: &str) -> &Self {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Removes a file or directory.
    pub(super) fn without(&self, path: &str) -> &Self {
        let path = self.path(path);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        self
    }

    /// Makes a file unreadable, also for root: it becomes a directory.
    pub(super) fn spoil(&self, path: &str) -> &Self {
        let path = self.path(path);
        if path.is_file() {
            fs::remove_file(&path).unwrap();
        }
        fs::create_dir_all(path).unwrap();
        self
    }

    /// Makes a file long, without contents.
    pub(super) fn inflate(&self, path: &str, length: u64) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::File::create(path).unwrap().set_len(length).unwrap();
        self
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(super) fn read(&self) -> Result<Topology, TopologyError> {
        Topology::read(self.path("sys"))
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.root).unwrap();
    }
}
