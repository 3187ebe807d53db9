//! What is done when a timer of a driver is due. Knows no driver.

use super::callback::Callback;
use crate::rt::wait::{Waiter, WakePlace};

/// What is done.
#[derive(Debug)]
pub(crate) enum TimerAction {
    /// A wait has lasted for as long as it may.
    Wake(Waiter, WakePlace),
    /// A fiber is made that calls back.
    CallbackFiber(Callback),
}

impl TimerAction {
    /// Whether it concerns other workers than the one whose timer it is.
    pub(crate) fn concerns_others(&self) -> bool {
        match self {
            Self::Wake(_, wakes) => *wakes == WakePlace::Anywhere,
            Self::CallbackFiber(_) => true,
        }
    }

    /// Has the memory fetched that it is about.
    #[inline]
    pub(crate) fn prefetch(&self) {
        if let Self::Wake(waiter, _) = self {
            waiter.prefetch();
        }
    }
}
