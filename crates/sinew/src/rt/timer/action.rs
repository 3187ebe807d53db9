//! The action of a driver's timer that is due. Knows no driver.

use super::callback::Callback;
use crate::rt::wait::{Waiter, WakePlace};

/// The action of a due timer.
#[derive(Debug)]
pub(crate) enum TimerAction {
    /// Wakes a waiter whose time limit is reached.
    Wake(Waiter, WakePlace),
    /// Spawns a fiber that runs a callback.
    CallbackFiber(Callback),
}

impl TimerAction {
    /// Returns whether the timer concerns workers other than its owner.
    pub(crate) fn concerns_others(&self) -> bool {
        match self {
            Self::Wake(_, wakes) => *wakes == WakePlace::Anywhere,
            Self::CallbackFiber(_) => true,
        }
    }

    /// Prefetches the memory that the action touches first.
    #[inline]
    pub(crate) fn prefetch(&self) {
        if let Self::Wake(waiter, _) = self {
            waiter.prefetch();
        }
    }
}
