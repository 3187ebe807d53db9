//! How many groups of how many workers: arithmetic alone. Knows how many nodes there are, and no CPU by its number.
//!
//! The number of workers may exceed what was asked for, because all groups have the same size.

use std::error::Error;
use std::fmt;
use std::ops::Range;

use crate::profile::Profile;

/// Workers of a group: each has a bit in a word.
pub const LARGEST_GROUP: usize = 64;

/// Workers of all groups. More threads than this no default kernel has.
pub const MOST_WORKERS: usize = 1 << 16;

/// What there is to say where the size is given.
const FEWEST: &str = "the fewest groups that will do";

/// What groups are laid out for.
///
/// # Examples
///
/// ```
/// # use sinew_topology::Profile;
/// # use sinew_topology::Demand;
/// let demand = Demand { profile: Profile::Neutral, concurrency: 76, nodes: 2, cpus: 76, group_size: None, numa: None };
/// let layout = demand.layout()?;
/// assert_eq!((layout.groups(), layout.group_size()), (4, 19));
/// assert_eq!(layout.node(1), Some(0));
/// assert_eq!(layout.node(2), Some(1));
/// # Ok::<(), sinew_topology::LayoutError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// What kind of work it is.
    pub profile: Profile,
    /// How many workers there should be at least.
    pub concurrency: usize,
    /// How many nodes have CPUs for them.
    pub nodes: usize,
    /// How many CPUs there are for them.
    pub cpus: usize,
    /// How many workers a group has, if not as the profile says.
    pub group_size: Option<usize>,
    /// Whether groups belong to nodes, if not as the profile says.
    pub numa: Option<bool>,
}

/// Groups of equal size, and the nodes that they belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    groups: usize,
    size: usize,
    /// With NUMA on, how many nodes the groups are spread over; it divides their number.
    nodes: Option<usize>,
    why: String,
}

impl Demand {
    /// Lays out the groups.
    ///
    /// The profile decides their size, within a range or up to 64, such that little is in excess; and whether each belongs to a
    /// node, which needs equally many groups on each. A given size is kept exactly, even by a single group that is larger
    /// than the concurrency. If NUMA is asked for, there are as many groups as it takes.
    ///
    /// # Errors
    ///
    /// If a number is out of bounds, or the profile is customized and no size is given.
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
                let why = "computing on half of the CPUs or more, so each node has groups of its own";
                self.on_nodes(nodes, LARGEST_GROUP).because(why)
            }
            None if self.group_size.is_some() => self.across(LARGEST_GROUP).because(FEWEST),
            None => self.across(LARGEST_GROUP).because("groups as large as can be"),
        }
    }

    /// The sizes to search, if the profile searches. A given size is a range of one.
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
            return Layout::across(1, size).because("so few workers are one group");
        }
        if let Some(layout) = self.accepted(sizes, nodes) {
            return layout;
        }
        // One of any range has a number of groups that 1 divides.
        let layout = self.best(sizes, 1).unwrap_or_else(|| self.across(sizes.end - 1));
        match nodes {
            1 => layout.because(self.aim()),
            _ => layout
                .because(format!("{}; as many on each node cannot be, or would be too many", self.aim())),
        }
    }

    /// What a search is for.
    fn aim(&self) -> &'static str {
        if self.group_size.is_some() { FEWEST } else { "groups with the least excess" }
    }

    /// Equally many groups on each node, if it takes but a tenth of the workers in excess.
    fn accepted(&self, sizes: &Range<usize>, nodes: usize) -> Option<Layout> {
        let layout = self.best(sizes, nodes).filter(|_| nodes > 1)?;
        let is_good = layout.workers() - self.concurrency <= self.concurrency / 10;
        let why = || format!("{}, as many on each node", self.aim());
        is_good.then(|| Layout { nodes: Some(nodes), ..layout }.because(why()))
    }

    /// The size with the least excess of those whose number of groups is a multiple; the smallest if several have it.
    fn best(&self, sizes: &Range<usize>, multiple: usize) -> Option<Layout> {
        let all = sizes.clone().map(|size| Layout::across(self.concurrency.div_ceil(size), size));
        all.filter(|layout| layout.groups.is_multiple_of(multiple)).min_by_key(Layout::workers)
    }

    /// NUMA on, because the user says so.
    fn as_asked(&self) -> Layout {
        let asked = "NUMA was asked for";
        let Some(sizes) = self.sizes() else {
            return self.on_nodes(self.nodes, LARGEST_GROUP).because(asked);
        };
        let accepted = self.accepted(&sizes, self.nodes);
        accepted.unwrap_or_else(|| self.on_nodes(self.nodes, sizes.end - 1)).because(asked)
    }

    /// Groups up to a size, across all nodes.
    fn across(&self, largest: usize) -> Layout {
        let (groups, size) = self.split(self.concurrency, largest);
        Layout::across(groups, size)
    }

    /// Groups up to a size, the same for each node.
    fn on_nodes(&self, nodes: usize, largest: usize) -> Layout {
        let (groups, size) = self.split(self.concurrency.div_ceil(nodes), largest);
        Layout { nodes: Some(nodes), ..Layout::across(groups * nodes, size) }
    }

    /// The fewest groups for so many workers, and their size: as given, or the least that will do.
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

    /// How many groups there are.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// How many workers each group has.
    #[must_use]
    pub fn group_size(&self) -> usize {
        self.size
    }

    /// How many workers there are in all.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.groups * self.size
    }

    /// Whether groups belong to nodes.
    #[must_use]
    pub fn is_numa(&self) -> bool {
        self.nodes.is_some()
    }

    /// Which node a group belongs to, of those that the groups are spread over, counted from 0; nothing if NUMA is off. Groups
    /// of a node have numbers in a row.
    #[must_use]
    pub fn node(&self, group: usize) -> Option<usize> {
        let per_node = self.groups / self.nodes?;
        (group < self.groups).then(|| group / per_node)
    }

    /// Why it is like that, in a few words.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }
}

/// Why groups could not be laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// No pool has so many workers.
    Concurrency(usize),
    /// No group has so many workers.
    GroupSize(usize),
    /// No machine has so many nodes.
    Nodes(usize),
    /// The profile is customized, and nobody said how large groups are.
    NoGroupSize,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Concurrency(count) => {
                write!(f, "the concurrency cannot be {count}: ask for 1 to {MOST_WORKERS}")
            }
            Self::GroupSize(0) => write!(f, "a group needs a worker: ask for a size of 1 to 64, or for none"),
            Self::GroupSize(size) => {
                write!(f, "a group cannot have {size} workers: ask for a size of 1 to 64, or for none")
            }
            Self::Nodes(count) => write!(f, "no machine has {count} nodes: give 1 to {MOST_WORKERS}"),
            Self::NoGroupSize => {
                write!(f, "the profile `customized` leaves the size of groups to you: give one of 1 to 64")
            }
        }
    }
}

impl Error for LayoutError {}
