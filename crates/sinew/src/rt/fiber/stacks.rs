//! The stacks of an engine: a pool for each NUMA node that its groups belong to, so that a stack is used again where its memory is.
//! Knows no fiber.

use std::ops::RangeInclusive;
use std::sync::Once;
use std::time::Duration;

use sinew_coroutine::{StackPool, StackStats};

use crate::rt::base::clock;

/// How many unused stacks of a size keep their memory: more than the first are given back by workers with nothing to do, once
/// nobody has needed them for ten seconds; more than the second at once. Giving them back as they come costs a fiber that ends a
/// microsecond, and the one that comes next twice that.
const KEPT: RangeInclusive<usize> = 512..=1 << 20;

/// The pools.
#[derive(Debug)]
pub(crate) struct Stacks {
    nodes: Vec<NodeStacks>,
    size: usize,
    /// How many to have ready, of all nodes together.
    warm: usize,
}

/// The stacks of a node.
#[derive(Debug)]
struct NodeStacks {
    number: usize,
    pool: StackPool,
    warmed: Once,
}

impl Stacks {
    /// For these nodes, each named once or more; stacks of this size are warmed before the first fiber.
    pub(crate) fn new(nodes: impl IntoIterator<Item = usize>, size: usize, warm: usize) -> Self {
        let mut numbers: Vec<_> = nodes.into_iter().collect();
        numbers.sort_unstable();
        numbers.dedup();
        let pool = || StackPool::builder().keep(KEPT).clock(clock::now).build();
        let node = |number| NodeStacks { number, pool: pool(), warmed: Once::new() };
        Self { nodes: numbers.into_iter().map(node).collect(), size, warm: warm.min(*KEPT.end()) }
    }

    /// The pool of a node; that of any other, if the node is not among those that it was made for.
    pub(crate) fn of(&self, node: usize) -> &StackPool {
        &self.node(node).pool
    }

    fn node(&self, number: usize) -> &NodeStacks {
        self.nodes.iter().find(|node| node.number == number).unwrap_or(&self.nodes[0])
    }

    /// Has the stacks of a node ready that are to be. For a thread that runs there: memory is where it is first written to.
    pub(crate) fn warm_up(&self, node: usize) {
        if self.warm > 0 {
            let node = self.node(node);
            // Those that cannot be had now are had later, or reported then.
            node.warmed
                .call_once(|| drop(node.pool.prewarm(self.size, self.warm.div_ceil(self.nodes.len()))));
        }
    }

    /// Gives the memory of all unused stacks back.
    pub(crate) fn trim(&self) {
        for node in &self.nodes {
            node.pool.trim();
        }
    }

    /// Gives the memory of some stacks back that nobody has needed for long. Whether there were any: there may be more.
    pub(crate) fn trim_idle(&self) -> bool {
        self.nodes.iter().any(|node| node.pool.trim_idle() > 0)
    }

    /// How long it is until there may be such stacks.
    pub(crate) fn time_to_trim(&self) -> Option<Duration> {
        self.nodes.iter().filter_map(|node| node.pool.time_to_trim()).min()
    }

    /// Of all nodes together.
    pub(crate) fn stats(&self) -> StackStats {
        self.nodes.iter().map(|node| node.pool.stats()).fold(StackStats::default(), |mut sum, stats| {
            sum.live += stats.live;
            sum.pooled += stats.pooled;
            sum.slabs += stats.slabs;
            sum.reserved += stats.reserved;
            sum.guards_by_advice += stats.guards_by_advice;
            sum.guards_by_protection += stats.guards_by_protection;
            sum
        })
    }
}
