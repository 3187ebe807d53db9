//! What is set for a descriptor and its clones, as the kernel has it for all duplicates of one: whether calls wait, and for how long.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::rt::io::{Direction, Patience};

/// No limit.
const NONE: u64 = 0;

/// What is set.
#[derive(Debug, Default)]
pub(crate) struct Modes {
    is_nonblocking: AtomicBool,
    /// In nanoseconds, or [`NONE`].
    read_timeout: AtomicU64,
    write_timeout: AtomicU64,
}

impl Modes {
    #[inline]
    pub(crate) fn patience(&self, direction: Direction) -> Patience {
        if self.is_nonblocking() {
            return Patience::None;
        }
        Patience::Wait(self.timeout(direction))
    }

    #[inline]
    pub(crate) fn is_nonblocking(&self) -> bool {
        // Relaxed: it says nothing of anything else.
        self.is_nonblocking.load(Ordering::Relaxed)
    }

    pub(crate) fn set_nonblocking(&self, is_nonblocking: bool) {
        self.is_nonblocking.store(is_nonblocking, Ordering::Relaxed);
    }

    #[inline]
    fn timeout(&self, direction: Direction) -> Option<Duration> {
        match self.limit(direction).load(Ordering::Relaxed) {
            NONE => None,
            nanos => Some(Duration::from_nanos(nanos)),
        }
    }

    /// Sets it, for as many nanoseconds as can be counted; for ever, if there is none.
    pub(crate) fn set_timeout(&self, direction: Direction, time: Option<Duration>) {
        let nanos = time.map_or(NONE, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1));
        self.limit(direction).store(nanos, Ordering::Relaxed);
    }

    #[inline]
    fn limit(&self, direction: Direction) -> &AtomicU64 {
        match direction {
            Direction::Read => &self.read_timeout,
            Direction::Write => &self.write_timeout,
        }
    }
}
