//! A machine: its CPUs, cores and nodes. Knows what was found, not how (see `sysfs.rs`), nor what of it a process may use.

use crate::cpu_set::CpuSet;

/// Far beyond what kernels are built for (8,192 CPUs): numbers from here on are nonsense.
pub(crate) const MOST_CPUS: u32 = 1 << 16;

/// The CPUs of a machine, and which of them share a core or a node.
///
/// It is read from a directory like `/sys`, so that any machine can be described by files.
///
/// # What is taken for granted if files are missing
///
/// - Without a list of the CPUs online: every CPU that has a directory and is not said to be offline.
/// - Without nodes, or if no node has a CPU: one node with all CPUs. A CPU that no node claims belongs to the first node with
///   CPUs.
/// - Without a word on memory: the node has some. Without distances: they are unknown. Without siblings: a CPU is a core.
///
/// Files about CPUs and nodes that cannot be read or make no sense are errors; those about offline CPUs, siblings, memory and
/// distances count as missing then, and [`notes`](Topology::notes) tell.
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
    /// Ascending; each CPU online is in exactly one of them.
    pub(super) nodes: Vec<Node>,
    /// By their first CPU; each CPU online is in exactly one of them.
    pub(super) cores: Vec<CpuSet>,
    pub(super) notes: Vec<String>,
}

/// A node of a machine: CPUs, memory, or both, which are near to one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub(super) id: u32,
    pub(super) cpus: CpuSet,
    pub(super) has_memory: bool,
    pub(super) distances: Vec<u32>,
}

impl Topology {
    /// A machine of these CPUs, each a core of its own, on one node. Numbers from 65,536 on, which no machine has, are left out.
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

    /// The CPUs that are online.
    #[must_use]
    pub fn online(&self) -> &CpuSet {
        &self.online
    }

    /// The CPUs that are there and switched off.
    #[must_use]
    pub fn offline(&self) -> &CpuSet {
        &self.offline
    }

    /// All nodes, those without CPUs or memory among them.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The nodes that have any of these CPUs, in order.
    pub fn nodes_of(&self, cpus: &CpuSet) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(move |node| !(&node.cpus & cpus).is_empty())
    }

    /// The CPUs online, core by core: those in one set are siblings.
    #[must_use]
    pub fn cores(&self) -> &[CpuSet] {
        &self.cores
    }

    /// What was missing or made no sense, and what was taken for granted in its place.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl Node {
    /// The kernel's number for it.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Its CPUs that are online; a node may have none.
    #[must_use]
    pub fn cpus(&self) -> &CpuSet {
        &self.cpus
    }

    /// Whether it has memory of its own.
    #[must_use]
    pub fn has_memory(&self) -> bool {
        self.has_memory
    }

    /// How far it is to each node, in the order of [`Topology::nodes`]: 10 to itself, 20 for twice as slow. Empty if that is
    /// not known.
    #[must_use]
    pub fn distances(&self) -> &[u32] {
        &self.distances
    }
}
