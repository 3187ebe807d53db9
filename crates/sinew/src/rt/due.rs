//! What is done when a timer of a driver is due. Knows no driver.

use super::callback::Callback;
use super::waiter::Waiter;

/// What is done.
#[derive(Debug)]
pub(crate) enum Due {
    /// A wait has lasted for as long as it may.
    Wake(Waiter, Wakes),
    /// A fiber is made that calls back.
    Call(Callback),
}

/// Where the fiber continues that a timer wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wakes {
    /// On the worker whose timer it is: if that is busy, the fiber waits anyway.
    Here,
    /// On any worker: an idle one looks at this timer while its own worker is busy.
    Anywhere,
}

impl Due {
    /// Whether it concerns other workers than the one whose timer it is.
    pub(crate) fn concerns_others(&self) -> bool {
        match self {
            Self::Wake(_, wakes) => *wakes == Wakes::Anywhere,
            Self::Call(_) => true,
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
