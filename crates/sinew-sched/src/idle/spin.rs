//! How long to search before sleeping. Knows the clock.

use std::time::{Duration, Instant};

/// About what it takes to wake a thread on another CPU: to search for less time than a wake costs loses to sleeping, for
/// more time to not sleeping.
pub(crate) const SPIN: Duration = Duration::from_micros(50);

/// Rounds between looks at the clock.
const ROUNDS: u32 = 8;

/// A stretch of searching.
#[derive(Debug)]
pub(crate) struct Spin {
    end: Instant,
    rounds: u32,
    is_over: bool,
}

impl Spin {
    pub(crate) fn start() -> Self {
        Self { end: Instant::now() + SPIN, rounds: 0, is_over: false }
    }

    /// No time at all: one round.
    pub(crate) fn spent() -> Self {
        Self { end: Instant::now(), rounds: 0, is_over: true }
    }

    /// Whether the time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Between two rounds.
    pub(crate) fn pause(&mut self) {
        core::hint::spin_loop();
        self.rounds += 1;
        if self.rounds.is_multiple_of(ROUNDS) {
            self.is_over = Instant::now() >= self.end;
        }
    }
}
