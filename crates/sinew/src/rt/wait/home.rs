//! Where a fiber runs: the group in which it begins, and the workers on which it may continue.
//! Knows no fiber.

use sinew_sched::Placement;

/// The group in which a fiber begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Target {
    /// The group of its parent.
    #[default]
    Nearest,
    /// Any group.
    Any,
    /// This group.
    Group(u32),
}

/// Where a suspended fiber continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// On any worker.
    Anywhere,
    /// On any worker of this group.
    Group(u32),
    /// On this worker.
    Worker(u32),
}

impl Home {
    pub(crate) fn placement(self) -> Placement {
        match self {
            Self::Anywhere => Placement::Anyone,
            Self::Group(group) => Placement::GroupOnly(group as usize),
            Self::Worker(worker) => Placement::Worker(worker as usize),
        }
    }
}
