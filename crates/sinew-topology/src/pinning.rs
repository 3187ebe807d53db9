//! Which CPUs the workers of each group may run on. Knows machines and layouts, and pins no thread
//! itself.

use std::error::Error;
use std::fmt;

use crate::cpu_set::CpuSet;
use crate::layout::Layout;
use crate::machine::Topology;

/// The CPUs that each worker may run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinning {
    groups: Vec<Pins>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pins {
    /// The kernel's number of the node, if the group belongs to one.
    node: Option<u32>,
    cpus: CpuSet,
    /// With one worker per CPU, the CPUs of the workers, by their numbers in the group.
    own: Vec<u32>,
}

impl Pinning {
    /// Lets each worker run on all CPUs of its group: those of the group's node with NUMA on, all
    /// CPUs otherwise.
    ///
    /// # Errors
    ///
    /// Returns an error if the layout is for a different number of nodes than have accessible CPUs.
    ///
    /// # Examples
    ///
    /// ```
    /// # use sinew_topology::{Demand, Pinning};
    /// # use sinew_topology::{CpuSet, Profile, Topology};
    /// let machine = Topology::flat(CpuSet::from_range(0..=3));
    /// let demand = Demand {
    ///     profile: Profile::Io,
    ///     concurrency: 4,
    ///     nodes: 1,
    ///     cpus: 4,
    ///     group_size: Some(2),
    ///     numa: None,
    /// };
    /// let layout = demand.layout()?;
    /// let shared = Pinning::shared(&machine, machine.online(), &layout)?;
    /// assert_eq!(shared.worker(1, 0).unwrap().to_string(), "0-3");
    /// let own = Pinning::one_per_cpu(&machine, machine.online(), &layout)?;
    /// assert_eq!(own.worker(1, 0).unwrap().to_string(), "2");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shared(machine: &Topology, accessible: &CpuSet, layout: &Layout) -> Result<Self, PinError> {
        let groups = (0..layout.groups()).map(|group| Pins::of_group(machine, accessible, layout, group));
        Ok(Self { groups: groups.collect::<Result<_, _>>()? })
    }

    /// Gives each worker a CPU of its own. Siblings of a core come last: no two workers share a
    /// core while there are unused cores.
    ///
    /// # Errors
    ///
    /// Returns an error if there are more workers than CPUs, on the machine or on a node, and in
    /// the cases of [`shared`](Self::shared).
    pub fn one_per_cpu(machine: &Topology, accessible: &CpuSet, layout: &Layout) -> Result<Self, PinError> {
        let mut pinning = Self::shared(machine, accessible, layout)?;
        let mut dealer = Dealer { order: spread(machine, accessible) };
        for pins in &mut pinning.groups {
            let room = pins.cpus.len();
            let own = dealer.deal(&pins.cpus, layout.group_size());
            pins.own = own.ok_or_else(|| PinError::TooManyWorkers {
                workers: layout.workers() / layout.groups() * share(layout),
                cpus: room,
                node: pins.node,
            })?;
        }
        Ok(pinning)
    }

    /// Returns the number of groups.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Returns the CPUs that the workers of a group may run on; `None` if there is no such group.
    #[must_use]
    pub fn group(&self, group: usize) -> Option<CpuSet> {
        let pins = self.groups.get(group)?;
        Some(if pins.own.is_empty() { pins.cpus.clone() } else { pins.own.iter().copied().collect() })
    }

    /// Returns the CPUs that a worker of a group may run on; `None` if there is no such group or,
    /// with one worker per CPU, no such worker.
    #[must_use]
    pub fn worker(&self, group: usize, worker: usize) -> Option<CpuSet> {
        let pins = self.groups.get(group)?;
        match pins.own.is_empty() {
            true => Some(pins.cpus.clone()),
            false => pins.own.get(worker).map(|cpu| CpuSet::from_range(*cpu..=*cpu)),
        }
    }

    /// Returns the kernel's number of the node that a group belongs to; `None` if NUMA is off.
    #[must_use]
    pub fn node(&self, group: usize) -> Option<u32> {
        self.groups.get(group)?.node
    }

    /// Returns whether each worker has a CPU of its own.
    #[must_use]
    pub fn is_one_per_cpu(&self) -> bool {
        self.groups.iter().all(|pins| !pins.own.is_empty())
    }
}

impl Pins {
    fn of_group(
        machine: &Topology,
        accessible: &CpuSet,
        layout: &Layout,
        group: usize,
    ) -> Result<Self, PinError> {
        let Some(index) = layout.node(group) else {
            return Ok(Self { node: None, cpus: accessible.clone(), own: Vec::new() });
        };
        let found = machine.nodes_of(accessible).count();
        let expected = layout.node(layout.groups() - 1).map_or(0, |last| last + 1);
        match machine.nodes_of(accessible).nth(index) {
            Some(node) if found == expected => {
                Ok(Self { node: Some(node.id()), cpus: node.cpus() & accessible, own: Vec::new() })
            }
            _ => Err(PinError::Nodes { expected, found }),
        }
    }
}

/// Returns how many groups share the CPUs of one group.
fn share(layout: &Layout) -> usize {
    (0..layout.groups()).filter(|group| layout.node(*group) == layout.node(0)).count()
}

/// Assigns each CPU once.
struct Dealer {
    order: Vec<u32>,
}

impl Dealer {
    /// Takes the next `count` of these CPUs.
    fn deal(&mut self, from: &CpuSet, count: usize) -> Option<Vec<u32>> {
        let dealt: Vec<u32> =
            self.order.iter().copied().filter(|cpu| from.contains(*cpu)).take(count).collect();
        let gone: CpuSet = dealt.iter().copied().collect();
        self.order.retain(|cpu| !gone.contains(*cpu));
        (dealt.len() == count).then_some(dealt)
    }
}

/// Returns the accessible CPUs: first one CPU of each core, then a second one of each core that has
/// one, and so on. Each of these rounds goes node by node, so that the CPUs of a group are close to
/// each other.
fn spread(machine: &Topology, accessible: &CpuSet) -> Vec<u32> {
    let mut ranked = Vec::new();
    for core in machine.cores() {
        let siblings = core & accessible;
        let node = machine.nodes().iter().position(|node| node.cpus().contains(core.first().unwrap_or(0)));
        ranked.extend(siblings.iter().enumerate().map(|(rank, cpu)| (rank, node, cpu)));
    }
    ranked.sort_unstable();
    ranked.into_iter().map(|(_, _, cpu)| cpu).collect()
}

/// The reason why workers cannot be assigned to CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PinError {
    /// There are fewer CPUs than workers that need one each.
    TooManyWorkers {
        /// The workers; those of the node if `node` is given.
        workers: usize,
        /// The CPUs; those of the node if `node` is given.
        cpus: usize,
        /// The node, with NUMA on.
        node: Option<u32>,
    },
    /// The layout is for a machine with another number of nodes.
    Nodes {
        /// The number of nodes that the layout is for.
        expected: usize,
        /// The number of nodes that have accessible CPUs.
        found: usize,
    },
}

impl fmt::Display for PinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyWorkers { workers, cpus, node: None } => write!(
                f,
                "{workers} workers cannot each have one of {cpus} CPUs: choose less concurrency or another group size, \
                 or let workers share CPUs"
            ),
            Self::TooManyWorkers { workers, cpus, node: Some(node) } => write!(
                f,
                "{workers} workers cannot each have one of {cpus} CPUs on node {node}: choose less concurrency or another \
                 group size, turn NUMA off, or let workers share CPUs"
            ),
            Self::Nodes { expected, found } => {
                write!(
                    f,
                    "the layout is for {expected} nodes, but {found} have CPUs: compute a layout for {found} nodes"
                )
            }
        }
    }
}

impl Error for PinError {}
