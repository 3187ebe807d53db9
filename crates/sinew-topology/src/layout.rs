//! How many groups there are, and how many workers each has: only arithmetic. Knows the number of
//! nodes, and no CPU by its number.
//!
//! The number of workers may exceed the demand, because all groups have the same size.

use std::error::Error;
use std::fmt;
use std::ops::Range;

use crate::profile::Profile;

/// The most workers of a group: each has a bit in a 64-bit word.
pub const LARGEST_GROUP: usize = 64;

/// The most workers of all groups together. No default kernel allows more threads.
pub const MOST_WORKERS: usize = 1 << 16;

/// The reason if the size of groups is given.
const FEWEST: &str = "the fewest groups that are enough";

/// The input of a layout: the kind of work, the number of workers, and the machine.
///
/// # Examples
///
/// ```
/// # use sinew_topology::Profile;
/// # use sinew_topology::Demand;
/// let demand = Demand {
///     profile: Profile::Neutral,
///     concurrency: 76,
///     nodes: 2,
///     cpus: 76,
///     group_size: None,
///     numa: None,
/// };
/// let layout = demand.layout()?;
/// assert_eq!((layout.groups(), layout.group_size()), (4, 19));
/// assert_eq!(layout.node(1), Some(0));
/// assert_eq!(layout.node(2), Some(1));
/// # Ok::<(), sinew_topology::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// The kind of work.
    pub profile: Profile,
    /// The least number of workers.
    pub concurrency: usize,
    /// The number of nodes with CPUs for the workers.
    pub nodes: usize,
    /// The number of CPUs for the workers.
    pub cpus: usize,
    /// The number of workers per group; `None` leaves it to the profile.
    pub group_size: Option<usize>,
    /// Whether groups belong to nodes; `None` leaves it to the profile.
    pub numa: Option<bool>,
}

/// The number and size of groups, and the nodes that they belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    groups: usize,
    size: usize,
    /// With NUMA on, the number of nodes that the groups are spread over. It divides the number of
    /// groups.
    nodes: Option<usize>,
    why: String,
}

impl Demand {
    /// Lays out the groups.
    ///
    /// The profile decides the size of the groups, within a range or up to 64, so that there are
    /// few excess workers. It also decides whether each group belongs to a node, which needs the
    /// same number of groups on each node. A given size is kept exactly, even if a single group is
    /// then larger than the concurrency. If NUMA is requested, there are as many groups as it
    /// needs.
    ///
    /// # Errors
    ///
    /// Returns an error if a number is out of bounds, or if the profile is
    /// [`Customized`](Profile::Customized) and no size is given.
    pub fn layout(&self) -> Result<Layout, LayoutError> {
        self.check()?;
        match self.numa {
            None => Ok(self.by_profile(self.nodes)),
            Some(false) => Ok(self.by_profile(1)),
            Some(true) if self.nodes == 1 => Ok(Layout { nodes: Some(1), ..self.by_profile(1) }),
            Some(true) => Ok(self.as_asked()),
        }
    }

    fn check(&self) -> Result<(), LayoutError> {
        if !(1..=MOST_WORKERS).contains(&self.concurrency) {
            return Err(LayoutError::Concurrency(self.concurrency));
        }
        if !(1..=MOST_WORKERS).contains(&self.nodes) {
            return Err(LayoutError::Nodes(self.nodes));
        }
        match self.group_size {
            Some(size) if !(1..=LARGEST_GROUP).contains(&size) => Err(LayoutError::GroupSize(size)),
            None if self.profile == Profile::Customized => Err(LayoutError::NoGroupSize),
            _ => Ok(()),
        }
    }

    fn by_profile(&self, nodes: usize) -> Layout {
        match self.sizes() {
            Some(sizes) => self.within(&sizes, nodes),
            None if self.profile == Profile::Compute && self.is_most_of(nodes) => {
                let why = "computing on at least half of the CPUs, so each node has groups of its own";
                self.on_nodes(nodes, LARGEST_GROUP).because(why)
            }
            None if self.group_size.is_some() => self.across(LARGEST_GROUP).because(FEWEST),
            None => self.across(LARGEST_GROUP).because("groups as large as possible"),
        }
    }

    /// Returns the sizes to search, if the profile has a range. A given size is a range of one.
    fn sizes(&self) -> Option<Range<usize>> {
        let range = match self.profile {
            Profile::ComputeHeavy | Profile::Compute | Profile::Customized => return None,
            Profile::Neutral => 16..32,
            Profile::Io => 12..24,
            Profile::IoHeavy => 8..16,
        };
        Some(self.group_size.map_or(range, |size| size..size + 1))
    }

    fn is_most_of(&self, nodes: usize) -> bool {
        nodes > 1 && 2 * self.concurrency >= self.cpus
    }

    fn within(&self, sizes: &Range<usize>, nodes: usize) -> Layout {
        if self.concurrency <= sizes.start {
            let size = self.group_size.unwrap_or(self.concurrency);
            return Layout::across(1, size).because("few enough workers for one group");
        }
        if let Some(layout) = self.accepted(sizes, nodes) {
            return layout;
        }
        // `best` finds a layout here unless the range is empty, since 1 divides any number of
        // groups.
        let layout = self.best(sizes, 1).unwrap_or_else(|| self.across(sizes.end - 1));
        match nodes {
            1 => layout.because(self.aim()),
            _ => layout.because(format!(
                "{}; the same number on each node is impossible, or has too much excess",
                self.aim()
            )),
        }
    }

    /// Returns what a search minimizes, as text.
    fn aim(&self) -> &'static str {
        if self.group_size.is_some() { FEWEST } else { "groups with the least excess" }
    }

    /// Returns the layout with the same number of groups on each node, if its excess is at most a
    /// tenth of the workers.
    fn accepted(&self, sizes: &Range<usize>, nodes: usize) -> Option<Layout> {
        let layout = self.best(sizes, nodes).filter(|_| nodes > 1)?;
        let is_good = layout.workers() - self.concurrency <= self.concurrency / 10;
        let why = || format!("{}, the same number on each node", self.aim());
        is_good.then(|| Layout { nodes: Some(nodes), ..layout }.because(why()))
    }

    /// Returns the size with the least excess among those whose number of groups is a multiple of
    /// `multiple`; the smallest one if several have it.
    fn best(&self, sizes: &Range<usize>, multiple: usize) -> Option<Layout> {
        let all = sizes.clone().map(|size| Layout::across(self.concurrency.div_ceil(size), size));
        all.filter(|layout| layout.groups.is_multiple_of(multiple)).min_by_key(Layout::workers)
    }

    /// Computes the layout with NUMA on, as the user requested.
    fn as_asked(&self) -> Layout {
        let asked = "NUMA was asked for";
        let Some(sizes) = self.sizes() else {
            return self.on_nodes(self.nodes, LARGEST_GROUP).because(asked);
        };
        let accepted = self.accepted(&sizes, self.nodes);
        accepted.unwrap_or_else(|| self.on_nodes(self.nodes, sizes.end - 1)).because(asked)
    }

    /// Returns groups of up to `largest` workers, across all nodes.
    fn across(&self, largest: usize) -> Layout {
        let (groups, size) = self.split(self.concurrency, largest);
        Layout::across(groups, size)
    }

    /// Returns groups of up to `largest` workers, the same number on each node.
    fn on_nodes(&self, nodes: usize, largest: usize) -> Layout {
        let (groups, size) = self.split(self.concurrency.div_ceil(nodes), largest);
        Layout { nodes: Some(nodes), ..Layout::across(groups * nodes, size) }
    }

    /// Returns the fewest groups for a number of workers, and their size: the given size, or the
    /// smallest one that is enough.
    fn split(&self, workers: usize, largest: usize) -> (usize, usize) {
        let groups = workers.div_ceil(self.group_size.unwrap_or(largest));
        (groups, self.group_size.unwrap_or_else(|| workers.div_ceil(groups)))
    }
}

impl Layout {
    fn across(groups: usize, size: usize) -> Self {
        Self { groups, size, nodes: None, why: String::new() }
    }

    fn because(self, why: impl Into<String>) -> Self {
        Self { why: why.into(), ..self }
    }

    /// Returns the number of groups.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Returns the number of workers of each group.
    #[must_use]
    pub fn group_size(&self) -> usize {
        self.size
    }

    /// Returns the number of workers of all groups.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.groups * self.size
    }

    /// Returns whether groups belong to nodes.
    #[must_use]
    pub fn is_numa(&self) -> bool {
        self.nodes.is_some()
    }

    /// Returns the node that a group belongs to, counted from 0 among the nodes that the groups are
    /// spread over; `None` if NUMA is off or there is no such group. Groups of the same node have
    /// consecutive numbers.
    #[must_use]
    pub fn node(&self, group: usize) -> Option<usize> {
        let per_node = self.groups / self.nodes?;
        (group < self.groups).then(|| group / per_node)
    }

    /// Returns a short reason for this layout.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }
}

/// The reason why a demand has no layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// The concurrency is out of bounds.
    Concurrency(usize),
    /// The group size is out of bounds.
    GroupSize(usize),
    /// The number of nodes is out of bounds.
    Nodes(usize),
    /// The profile is [`Customized`](Profile::Customized), and no group size is given.
    NoGroupSize,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Concurrency(count) => {
                write!(f, "the concurrency cannot be {count}: choose 1 to {MOST_WORKERS}")
            }
            Self::GroupSize(0) => {
                write!(f, "a group cannot have 0 workers: choose a size of 1 to 64, or leave it out")
            }
            Self::GroupSize(size) => {
                write!(f, "a group cannot have {size} workers: choose a size of 1 to 64, or leave it out")
            }
            Self::Nodes(count) => write!(f, "no machine has {count} nodes: choose 1 to {MOST_WORKERS}"),
            Self::NoGroupSize => {
                write!(f, "the profile `customized` needs a group size: choose 1 to 64")
            }
        }
    }
}

impl Error for LayoutError {}
