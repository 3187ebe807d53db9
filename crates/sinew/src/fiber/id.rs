//! The number of a fiber.

use std::num::NonZero;

/// Names a fiber, or a thread that asked for its own. Numbers are never used twice in a process, also when fibers end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FiberId(NonZero<u64>);

/// [`FiberId`], under the name that std has for it.
pub type ThreadId = FiberId;

impl FiberId {
    pub(super) fn new(number: NonZero<u64>) -> Self {
        Self(number)
    }

    /// The number, as it stands in messages.
    #[must_use]
    pub fn as_u64(&self) -> NonZero<u64> {
        self.0
    }
}
