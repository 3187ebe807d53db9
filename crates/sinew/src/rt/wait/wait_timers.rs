//! The seam between a wait with a time limit and the timers of its worker.

use std::time::Instant;

use super::waiter::Waiter;

/// Sets timers that end waits. Implemented by the timers of a core.
pub(crate) trait WaitTimers: Sync {
    /// Ends a wait at this moment, unless the timer is cancelled. Callable from any thread. Returns
    /// `None` if the runtime is over, and the wait with it.
    fn set_wake(&self, when: Instant, waiter: Waiter, wakes: WakePlace) -> Option<WaitTimerId>;

    /// Cancels a timer. Callable from any thread. Does nothing if the timer has ended its wait.
    fn cancel_wake(&self, timer: WaitTimerId);
}

/// Names a timer for as long as it is set, and nothing afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitTimerId {
    pub(crate) index: u32,
    /// Never the same again for this index: 64 bits do not run over.
    pub(crate) generation: u64,
}

/// Where the fiber continues that a timer wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WakePlace {
    /// On the worker whose timer it is: if that is busy, the fiber waits anyway.
    Here,
    /// On any worker: an idle one looks at this timer while its own worker is busy.
    Anywhere,
}
