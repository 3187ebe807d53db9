//! A machine: its CPUs, cores and nodes. Knows neither how they are read (see `sysfs.rs`) nor which
//! of them a process may use.

use crate::cpu_set::CpuSet;

/// Far above the 8,192 CPUs that kernels are built for: numbers from here on are invalid.
pub(crate) const MOST_CPUS: u32 = 1 << 16;

/// The CPUs of a machine, and which of them share a core or a node.
///
/// It is read from a directory like `/sys`, so any machine can be described by files.
///
/// # Defaults for missing files
///
/// - Without a list of the online CPUs: every CPU that has a directory and is not marked as offline
///   is online.
/// - Without nodes, or if no node has a CPU: there is one node with all CPUs. A CPU that no node
///   lists belongs to the first node with CPUs.
/// - Without information on memory: the node has memory. Without distances: they are unknown.
///   Without siblings: each CPU is a core.
///
/// Files about CPUs and nodes that cannot be read or are invalid are errors. Such files about
/// offline CPUs, siblings, memory and distances count as missing, and [`notes`](Topology::notes)
/// says so.
///
/// # Examples
///
/// ```no_run
/// # use sinew_topology::Topology;
/// let machine = Topology::read("/sys")?;
/// for node in machine.nodes() {
///     println!("node {}: CPUs {}", node.id(), node.cpus());
/// }
/// # Ok::<(), sinew_topology::TopologyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    pub(super) online: CpuSet,
    pub(super) offline: CpuSet,
    /// Ascending. Each online CPU is in exactly one node.
    pub(super) nodes: Vec<Node>,
    /// Sorted by their first CPU. Each online CPU is in exactly one core.
    pub(super) cores: Vec<CpuSet>,
    pub(super) notes: Vec<String>,
}

/// A node of a machine: CPUs, memory, or both, which are close to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub(super) id: u32,
    pub(super) cpus: CpuSet,
    pub(super) has_memory: bool,
    pub(super) distances: Vec<u32>,
}

impl Topology {
    /// Creates a machine with these CPUs, each a core of its own, on one node. Numbers from 65,536
    /// on, which no machine has, are ignored.
    ///
    /// # Examples
    ///
    /// ```
    /// # use sinew_topology::{CpuSet, Topology};
    /// let machine = Topology::flat(CpuSet::from_range(0..=7));
    /// assert_eq!((machine.nodes().len(), machine.cores().len()), (1, 8));
    /// ```
    #[must_use]
    pub fn flat(cpus: CpuSet) -> Self {
        let cpus = &cpus & &CpuSet::from_range(0..=MOST_CPUS - 1);
        let node = Node { id: 0, cpus: cpus.clone(), has_memory: true, distances: Vec::new() };
        let cores = cpus.iter().map(|cpu| CpuSet::from_range(cpu..=cpu)).collect();
        Self { online: cpus, offline: CpuSet::new(), nodes: vec![node], cores, notes: Vec::new() }
    }

    /// Returns the online CPUs.
    #[must_use]
    pub fn online(&self) -> &CpuSet {
        &self.online
    }

    /// Returns the CPUs that are present and offline.
    #[must_use]
    pub fn offline(&self) -> &CpuSet {
        &self.offline
    }

    /// Returns all nodes, including those without CPUs or memory.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the nodes that have any of these CPUs, in order.
    pub fn nodes_of(&self, cpus: &CpuSet) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(move |node| !(&node.cpus & cpus).is_empty())
    }

    /// Returns the online CPUs by core: the CPUs of one set are siblings.
    #[must_use]
    pub fn cores(&self) -> &[CpuSet] {
        &self.cores
    }

    /// Returns notes on what was missing or invalid, and what was assumed instead.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Node {
    /// Returns the kernel's number of the node.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns the node's online CPUs. A node may have none.
    #[must_use]
    pub fn cpus(&self) -> &CpuSet {
        &self.cpus
    }

    /// Returns whether the node has memory of its own.
    #[must_use]
    pub fn has_memory(&self) -> bool {
        self.has_memory
    }

    /// Returns the distance to each node, in the order of [`Topology::nodes`]: 10 to itself, 20 for
    /// twice as slow. Empty if the distances are unknown.
    #[must_use]
    pub fn distances(&self) -> &[u32] {
        &self.distances
    }
}
