//! The stacks of an engine: one pool for each NUMA node of its groups, so that a stack is reused
//! where its memory is. Knows no fiber.

use std::ops::RangeInclusive;
use std::sync::Once;
use std::time::Duration;

use sinew_coroutine::{StackPool, StackStats};

use crate::rt::base::clock;

/// How many unused stacks of a size keep their memory. Idle workers free the stacks beyond the
/// first number if they were not needed for ten seconds. Stacks beyond the second number are freed
/// at once. To free a stack as it is returned costs a fiber that ends a microsecond, and the next
/// fiber two.
const KEPT: RangeInclusive<usize> = 512..=1 << 20;

/// The pools of an engine.
#[derive(Debug)]
pub(crate) struct Stacks {
    nodes: Vec<NodeStacks>,
    size: usize,
    /// How many stacks to prewarm, on all nodes together.
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
    /// Makes pools for these nodes, which may be named more than once. Stacks of this size are
    /// prewarmed before the first fiber.
    pub(crate) fn new(nodes: impl IntoIterator<Item = usize>, size: usize, warm: usize) -> Self {
        let mut numbers: Vec<_> = nodes.into_iter().collect();
        numbers.sort_unstable();
        numbers.dedup();
        let pool = || StackPool::builder().keep(KEPT).clock(clock::now).build();
        let node = |number| NodeStacks { number, pool: pool(), warmed: Once::new() };
        Self { nodes: numbers.into_iter().map(node).collect(), size, warm: warm.min(*KEPT.end()) }
    }

    /// Returns the pool of a node, or another one if the node has none.
    pub(crate) fn of(&self, node: usize) -> &StackPool {
        &self.node(node).pool
    }

    fn node(&self, number: usize) -> &NodeStacks {
        self.nodes.iter().find(|node| node.number == number).unwrap_or(&self.nodes[0])
    }

    /// Prewarms the stacks of a node. Called on a thread of that node, since memory is placed where
    /// it is first written to.
    pub(crate) fn warm_up(&self, node: usize) {
        if self.warm > 0 {
            let node = self.node(node);
            // Stacks that cannot be allocated now are allocated later, or the error is reported
            // then.
            node.warmed
                .call_once(|| drop(node.pool.prewarm(self.size, self.warm.div_ceil(self.nodes.len()))));
        }
    }

    /// Frees the memory of all unused stacks.
    pub(crate) fn trim(&self) {
        for node in &self.nodes {
            node.pool.trim();
        }
    }

    /// Frees the memory of some stacks that were not needed for long. Returns whether there were
    /// any. There may be more.
    pub(crate) fn trim_idle(&self) -> bool {
        self.nodes.iter().any(|node| node.pool.trim_idle() > 0)
    }

    /// Returns how long it takes until there may be such stacks.
    pub(crate) fn time_to_trim(&self) -> Option<Duration> {
        self.nodes.iter().filter_map(|node| node.pool.time_to_trim()).min()
    }

    /// Returns the statistics of all nodes together.
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
