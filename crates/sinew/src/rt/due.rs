//! What is done when a timer of a driver is due. Knows no driver.

use super::callback::Callback;
use super::waiter::Waiter;

/// What is done.
#[derive(Debug)]
pub(crate) enum Due {
    /// A wait has lasted for as long as it may.
    Wake(Waiter),
    /// A fiber is made that calls back.
    Call(Callback),
}

impl Due {
    /// Has the memory fetched that it is about.
    #[inline]
    pub(crate) fn prefetch(&self) {
        if let Self::Wake(waiter) = self {
            waiter.prefetch();
        }
    }
}
