//! Retries after growing pauses, for events that the kernel does not report. Knows not what is
//! tried.

use std::io;
use std::time::{Duration, Instant};

use crate::fiber;
use crate::io::{Patience, would_block};
use crate::rt;

/// The first pause: roughly the time in which a peer on another CPU wakes up.
const FIRST: Duration = Duration::from_micros(50);
/// The longest pause.
const LONGEST: Duration = Duration::from_millis(10);

/// The pauses of one call.
pub(super) struct Backoff {
    patience: Patience,
    next: Duration,
    until: Option<Instant>,
}

impl Backoff {
    pub(super) fn new(patience: Patience) -> Self {
        Self { patience, next: FIRST, until: None }
    }

    /// Waits before the next attempt.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller is stopped, and [`WouldBlock`](io::ErrorKind::WouldBlock) if
    /// the call must not wait or its time-out has expired.
    #[cold]
    #[track_caller]
    pub(super) fn pause(&mut self) -> io::Result<()> {
        let Patience::Wait(time) = self.patience else { return Err(would_block()) };
        let now = rt::now();
        // A time beyond the range of the clock counts as no limit.
        self.until = self.until.or_else(|| time.and_then(|time| now.checked_add(time)));
        let left = self.until.map(|until| until.saturating_duration_since(now));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(would_block());
        }
        fiber::sleep_cancellable(left.map_or(self.next, |left| left.min(self.next)))?;
        self.next = (self.next * 2).min(LONGEST);
        Ok(())
    }
}
