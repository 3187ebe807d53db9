//! What there is, and what those ask for who wait. All of it is under the lock of the queue.

use std::cell::Cell;

use crate::rt::Locked;

/// What there is.
pub(super) struct Permits {
    pub(super) available: usize,
    /// With those that somebody has. At most [`Semaphore::MAX_PERMITS`](super::Semaphore::MAX_PERMITS), so that giving back never fails.
    pub(super) total: usize,
    pub(super) is_closed: bool,
}

/// What one asks for who waits.
pub(super) struct Want {
    pub(super) permits: usize,
    /// It was closed instead.
    pub(super) is_refused: Cell<bool>,
}

/// What came of asking.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Granted,
    Closed,
    Wait,
}

impl Locked<'_, Permits, Want> {
    /// Takes so many, if the caller may.
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

    /// What the first one asks for who waits, if there is as much.
    pub(super) fn servable(&self) -> Option<usize> {
        self.first().map(|want| want.permits).filter(|permits| *permits <= self.available && !self.is_closed)
    }
}
