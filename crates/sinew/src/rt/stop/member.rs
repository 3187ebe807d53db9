//! Who may wait where cancellation counts. Knows no cancellation.

use super::super::reference::Fiber;
use super::super::waiter::ThreadBlock;

/// A fiber or a thread.
#[derive(Debug)]
pub(crate) enum Member {
    /// A fiber; or a thread that is parked, and not by what is ours.
    Fiber(Fiber),
    /// A thread that waits in its block.
    Thread(&'static ThreadBlock),
}

impl Member {
    /// Ends the wait that it is in, if a poke may.
    pub(super) fn poke(&self) {
        match self {
            Self::Fiber(fiber) => fiber.poke(),
            Self::Thread(block) => block.poke(),
        }
    }
}
