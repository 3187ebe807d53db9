//! Trying again after a while, for what the kernel cannot be asked to tell of. Knows not what is tried.

use std::io;
use std::time::{Duration, Instant};

use crate::fiber;
use crate::io::{Patience, would_block};
use crate::rt;

/// The first pause: about as long as a peer on another CPU takes to wake up.
const FIRST: Duration = Duration::from_micros(50);
/// No pause is longer.
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

    /// Waits before the next time.
    ///
    /// # Errors
    ///
    /// If the caller is to stop; and as the kernel has it, if it is not to wait, or has waited for long enough.
    #[cold]
    #[track_caller]
    pub(super) fn pause(&mut self) -> io::Result<()> {
        let Patience::Wait(time) = self.patience else { return Err(would_block()) };
        let now = rt::now();
        // A moment beyond the clock's end never comes.
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
