//! The seam between a wait with a time limit and the timers of its worker.

use std::time::Instant;

use super::waiter::Waiter;

/// Sets timers that end waits. Implemented by the timers of a core.
pub(crate) trait WaitTimers: Sync {
    /// Arms a timer that ends a wait at this moment, unless it is cancelled. Callable from any
    /// thread. Returns `None` if the runtime is over, which ends the wait.
    fn set_wake(&self, when: Instant, waiter: Waiter, wakes: WakePlace) -> Option<WaitTimerId>;

    /// Cancels a timer. Callable from any thread. Does nothing if the timer has ended its wait.
    fn cancel_wake(&self, timer: WaitTimerId);
}

/// Identifies a timer while it is armed. Never identifies another one afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitTimerId {
    pub(crate) index: u32,
    /// Unique for this index: 64 bits do not overflow.
    pub(crate) generation: u64,
}

/// Where a fiber continues after a timer has woken it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WakePlace {
    /// On the worker that owns the timer: if that worker is busy, the fiber waits anyway.
    Here,
    /// On any worker: an idle worker checks this timer while its owner is busy.
    Anywhere,
}
