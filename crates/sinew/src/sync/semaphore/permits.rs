//! The permits of a semaphore, and what its waiters want. All of it is under the lock of the wait
//! queue.

use std::cell::Cell;

use crate::rt::Locked;

/// The state of a semaphore.
pub(super) struct Permits {
    pub(super) available: usize,
    /// Includes acquired permits. At most
    /// [`Semaphore::MAX_PERMITS`](super::Semaphore::MAX_PERMITS), so releasing permits never
    /// overflows.
    pub(super) total: usize,
    pub(super) is_closed: bool,
}

/// What a waiter wants.
pub(super) struct Want {
    pub(super) permits: usize,
    /// The semaphore was closed instead.
    pub(super) is_refused: Cell<bool>,
}

/// The answer to a request for permits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Granted,
    Closed,
    Wait,
}

impl Locked<'_, Permits, Want> {
    /// Takes this number of permits, if the caller may have them.
    pub(super) fn ask(&mut self, permits: usize, is_first: bool) -> Answer {
        if self.is_closed {
            return Answer::Closed;
        }
        let may_take = permits == 0 || is_first && permits <= self.available;
        if may_take {
            self.available -= permits;
        }
        if may_take { Answer::Granted } else { Answer::Wait }
    }

    /// Returns what the first waiter wants, if that is available.
    pub(super) fn servable(&self) -> Option<usize> {
        self.first().map(|want| want.permits).filter(|permits| *permits <= self.available && !self.is_closed)
    }
}
