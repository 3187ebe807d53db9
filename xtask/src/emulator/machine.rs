//! The shape of a machine, and qemu's command line for it.
//!
//! A machine has nodes of equal size and a console: no disk, no network. This file does not know
//! what is booted on it, and what its output means.

use std::path::Path;

use super::packages::Packages;
use crate::exec::Exec;

/// What a machine is made of.
pub(crate) struct Machine {
    /// Its NUMA nodes. With one, the machine does not describe nodes, like most machines.
    pub(crate) nodes: usize,
    /// The processors of each node.
    pub(crate) processors: usize,
    /// The memory of each node, in MiB.
    pub(crate) memory: usize,
}

/// Software emulation with everything that it can emulate, since hardware virtualisation is not
/// available everywhere.
const PROCESSOR: [&str; 4] = ["-accel", "tcg,thread=multi", "-cpu", "max"];

/// The console is qemu's standard output, and a restart, which is how the kernel ends after a
/// panic, ends qemu.
const SURROUNDINGS: [&str; 8] =
    ["-nodefaults", "-no-reboot", "-display", "none", "-monitor", "none", "-serial", "stdio"];

/// A kernel with an internal error must not continue and pass a test, and a kernel that cannot boot
/// should say so early. Memory stays on the node where it was put. Otherwise the kernel would move
/// it to the node that uses it, and hide that it was put on the wrong one.
const KERNEL_OPTIONS: &str = "console=ttyS0 earlyprintk=serial oops=panic panic=-1 numa_balancing=disable";

impl Machine {
    /// Returns the command line that boots the machine.
    pub(super) fn boot(&self, packages: &Packages, initrd: &Path) -> Exec {
        packages
            .qemu()
            .args(PROCESSOR)
            .args(SURROUNDINGS)
            .args(self.shape())
            .args(["-kernel".as_ref(), packages.kernel().as_os_str()])
            .args(["-initrd".as_ref(), initrd.as_os_str()])
            .args(["-append", KERNEL_OPTIONS])
    }

    fn shape(&self) -> Vec<String> {
        let Self { nodes, processors, memory } = *self;
        let total = format!("{}M", nodes * memory);
        // A node is a socket too: a kernel complains about one socket with processors on both
        // nodes.
        let sockets = format!("{},sockets={nodes},cores={processors}", nodes * processors);
        let mut shape = ["-m", &total, "-smp", &sockets].map(str::to_owned).to_vec();
        if nodes > 1 {
            shape.extend((0..nodes).flat_map(|node| self.node(node)));
            shape
                .extend((0..nodes).flat_map(|from| (from + 1..nodes).flat_map(move |to| distance(from, to))));
        }
        shape
    }

    /// Returns the arguments for one node: its memory, and the processors near to it.
    fn node(&self, node: usize) -> [String; 4] {
        let (first, last) = (node * self.processors, (node + 1) * self.processors - 1);
        [
            "-object".to_owned(),
            format!("memory-backend-ram,id=memory{node},size={}M", self.memory),
            "-numa".to_owned(),
            format!("node,nodeid={node},cpus={first}-{last},memdev=memory{node}"),
        ]
    }
}

/// Returns the arguments for the distance between two nodes: twice that within a node, which is 10.
fn distance(from: usize, to: usize) -> [String; 2] {
    ["-numa".to_owned(), format!("dist,src={from},dst={to},val=20")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_nodes_has_processors_and_memory() {
        let machine = Machine { nodes: 1, processors: 2, memory: 2048 };
        assert_eq!(machine.shape(), ["-m", "2048M", "-smp", "2,sockets=1,cores=2"]);
    }

    #[test]
    fn nodes_share_out_processors_and_memory() {
        let machine = Machine { nodes: 3, processors: 2, memory: 256 };
        let shape = machine.shape().join(" ");
        for words in [
            "-m 768M -smp 6,sockets=3,cores=2",
            "-object memory-backend-ram,id=memory0,size=256M -numa node,nodeid=0,cpus=0-1,memdev=memory0",
            "-object memory-backend-ram,id=memory2,size=256M -numa node,nodeid=2,cpus=4-5,memdev=memory2",
            "-numa dist,src=0,dst=1,val=20 -numa dist,src=0,dst=2,val=20 -numa dist,src=1,dst=2,val=20",
        ] {
            assert!(shape.contains(words), "{words:?} in: {shape}");
        }
    }
}
