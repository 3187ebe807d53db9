//! The identity of a fiber.

use std::num::NonZero;

/// A unique identifier of a fiber, or of a plain thread that asked for its own. A process never
/// uses a number twice, not even after a fiber has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FiberId(NonZero<u64>);

/// An alias of [`FiberId`], under the name of std.
pub type ThreadId = FiberId;

impl FiberId {
    pub(super) fn new(number: NonZero<u64>) -> Self {
        Self(number)
    }

    /// Returns the number, as messages contain it.
    #[must_use]
    pub fn as_u64(&self) -> NonZero<u64> {
        self.0
    }
}
