//! The error of waiting for the end of a callback.

use crate::rt::{NoEnd, impl_error};

/// The error of [`Timer::cancel_and_wait`](super::Timer::cancel_and_wait), which did not wait for
/// the end of the callback. The timer is cancelled nevertheless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CancelError {
    /// The caller is the timer's own callback, which would wait for itself.
    InCallback,
    /// The runtime was shut down while the callback ran, so the callback may never end.
    Abandoned,
    /// The callback still ran when the time was over.
    TimedOut,
}

impl CancelError {
    pub(super) fn new(reason: NoEnd) -> Self {
        match reason {
            NoEnd::Own => Self::InCallback,
            NoEnd::Abandoned => Self::Abandoned,
            NoEnd::TimedOut => Self::TimedOut,
        }
    }
}

impl_error!(CancelError, |error| match error {
    CancelError::InCallback => {
        "a timer's callback cannot wait for its own end: call `cancel` in it, which does not wait"
    }
    CancelError::Abandoned => {
        "the timer's callback may never end, since its runtime was shut down while it ran: cancel timers before that"
    }
    CancelError::TimedOut => "the timer's callback still runs: wait for longer, or make it end earlier",
});
