//! Where a fiber is to run: which group it begins in, and where it may go on. Knows no fiber.

use sinew_sched::Placement;

/// In which group a fiber begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Target {
    /// That of whoever makes it.
    #[default]
    Nearest,
    /// Any.
    Any,
    /// This one.
    Group(u32),
}

/// Where a fiber that does not run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// Anywhere.
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
