//! `skynet_join`: a tree of fibers, each of which spawns ten and joins them, six levels deep: a
//! million leaves (ten thousand in a quick run). Each leaf returns its number, and each inner fiber
//! the sum of its children. The root's result is checked. For ours, also how many stacks that took:
//! a child that runs when it is joined can reuse the stack of a child that has ended, while
//! children that begin before have a stack each.
//!
//! `may` and `boost` take no part. They start fibers in the order in which they were spawned, so
//! that a whole level exists at once. A stack of may takes two mappings, of which Linux allows a
//! process 65,530. The stacks of Boost would take 10 GB.

use super::{Entry, Job, Metric, Readings, Workload, check_sum, fibers};
use crate::pace::Cost;
use crate::peers;
use crate::runtimes;
use sinew::{Runtime, fiber};
use std::array;

/// How many children an inner fiber has.
pub(super) const CHILDREN: u64 = 10;

/// The table of this workload.
pub(super) static WORKLOAD: Workload = Workload {
    name: "skynet_join",
    what: "a tree of fibers that join their ten children, 1,000,000 leaves",
    single_threaded: false,
    metrics: &[
        Metric { name: "ms", unit: "ms a tree", lower_is_better: true },
        Metric { name: "cpu_ms", unit: "ms of processor time a tree", lower_is_better: true },
        Metric { name: "stacks", unit: "stacks in use at most", lower_is_better: true },
    ],
    entries: &[
        &fibers(fibers_of),
        &[Entry::here(&peers::TOKIO, tokio), Entry::here(&peers::RAYON, rayon), Entry::foreign(&peers::GO)],
    ],
};

fn fibers_of(job: &Job) -> Readings {
    let runtime = &runtimes::fibers(job);
    fn sum(node: Node) -> u64 {
        if node.is_leaf() {
            return node.first;
        }
        let children: [_; CHILDREN as usize] = array::from_fn(|i| fiber::spawn(move || sum(node.child(i))));
        children.into_iter().map(|child| child.join().expect("it does not panic")).sum()
    }
    let mut readings = trees(job, |root| runtime.run(move || sum(root)));
    readings.push(("stacks", most_stacks(runtime) as f64));
    readings
}

/// Returns the largest number of stacks that fibers had at a time, as long as that is no more than
/// a pool keeps (16,384): a stack with memory was in use, and a stack is made only when no unused
/// one has memory.
pub(super) fn most_stacks(runtime: &Runtime) -> usize {
    let stacks = runtime.stack_stats();
    stacks.live + stacks.pooled
}

/// A fiber of the tree: the number of its first leaf, and how many leaves it has. With one, it is a
/// leaf itself.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub(super) first: u64,
    leaves: u64,
}

impl Node {
    pub(super) fn is_leaf(self) -> bool {
        self.leaves == 1
    }

    pub(super) fn child(self, number: usize) -> Self {
        let leaves = self.leaves / CHILDREN;
        Self { first: self.first + number as u64 * leaves, leaves }
    }
}

fn tokio(job: &Job) -> Readings {
    #[expect(clippy::manual_async_fn, reason = "a future that spawns itself must be declared `Send`")]
    fn sum(node: Node) -> impl Future<Output = u64> + Send {
        async move {
            if node.is_leaf() {
                return node.first;
            }
            let children: [_; CHILDREN as usize] = array::from_fn(|i| tokio::spawn(sum(node.child(i))));
            let mut total = 0;
            for child in children {
                total += child.await.expect("it does not panic");
            }
            total
        }
    }
    let runtime = runtimes::tokio(job.threads);
    trees(job, |root| runtimes::in_tokio(&runtime, sum(root)))
}

/// Uses a scope, so that each child is a task of its own: a parallel iterator would leave most of
/// them together.
fn rayon(job: &Job) -> Readings {
    fn sum(node: Node) -> u64 {
        if node.is_leaf() {
            return node.first;
        }
        let mut sums = [0; CHILDREN as usize];
        rayon::scope(|scope| {
            for (i, place) in sums.iter_mut().enumerate() {
                scope.spawn(move |_| *place = sum(node.child(i)));
            }
        });
        sums.iter().sum()
    }
    let pool = runtimes::rayon(job.threads);
    trees(job, |root| pool.install(|| sum(root)))
}

/// Times one tree. `sum` gets its root and returns the result.
fn trees(job: &Job, sum: impl Fn(Node) -> u64) -> Readings {
    let cost = cost_of_tree(job, sum);
    vec![("ms", cost.ns / 1e6), ("cpu_ms", cost.cpu_ns / 1e6)]
}

/// Returns the cost of one tree.
pub(super) fn cost_of_tree(job: &Job, sum: impl Fn(Node) -> u64) -> Cost {
    let leaves = CHILDREN.pow(if job.pace.is_quick() { 4 } else { 6 });
    let root = Node { first: 0, leaves };
    job.pace.cost_per_op(|n| (0..n).for_each(|_| check_sum(sum(root), 0, leaves)))
}

#[cfg(test)]
mod tests {
    use super::Node;

    #[test]
    fn children_share_the_leaves() {
        let root = Node { first: 500, leaves: 100 };
        let (first, last) = (root.child(0), root.child(9));
        assert_eq!((first.first, first.leaves, last.first, last.leaves), (500, 10, 590, 10));
        assert!(!last.is_leaf() && last.child(9).is_leaf());
        assert_eq!(last.child(9).first, 599);
    }
}
