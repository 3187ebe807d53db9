//! What a chapter is given: its time, its sizes, and a bar. Hides whether a bar is shown.

use std::time::{Duration, Instant};

use super::check::Failure;
use super::sizes::Sizes;
use crate::output::screen::{Bar, Screen};

/// What a chapter is given.
#[derive(Debug)]
pub(crate) struct Stage<'a> {
    screen: &'a Screen,
    sizes: Sizes,
    time: Duration,
}

/// Rounds of a measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    pub(crate) count: u64,
    pub(crate) elapsed: Duration,
}

impl<'a> Stage<'a> {
    /// A stage for a chapter that has so much time.
    pub(crate) fn new(screen: &'a Screen, sizes: Sizes, time: Duration) -> Self {
        Self { screen, sizes, time }
    }

    /// How large the chapter may be.
    pub(crate) fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// The time that the chapter should take, about.
    pub(crate) fn time(&self) -> Duration {
        self.time
    }

    /// Shows a bar that is full at `total`.
    pub(crate) fn bar(&self, total: u64) -> Bar<'_> {
        self.screen.bar(total)
    }

    /// Repeats a round for a part of the chapter's time, once at least. The bar shows the time.
    pub(crate) fn repeat(
        &self,
        part: f64,
        mut round: impl FnMut() -> Result<(), Failure>,
    ) -> Result<Rounds, Failure> {
        let time = self.time.mul_f64(part);
        let bar = self.bar(time.as_micros() as u64);
        let began = Instant::now();
        let mut count = 0;
        loop {
            round()?;
            count += 1;
            let elapsed = began.elapsed();
            bar.set(elapsed.as_micros() as u64);
            if elapsed >= time {
                return Ok(Rounds { count, elapsed });
            }
        }
    }
}

impl Rounds {
    /// Returns the time of one operation, if each round has `per_round` of them.
    pub(crate) fn seconds_each(self, per_round: u64) -> f64 {
        self.elapsed.as_secs_f64() / (self.count * per_round) as f64
    }
}
