//! Ticks to wait for in a loop. They have no timer: each one is a sleep.

use std::time::{Duration, Instant};

use super::missed_ticks::MissedTicks;
use super::sleep_until;
use crate::fiber::{Stopped, sleep_cancellable, sleep_until_cancellable};
use crate::rt::{self, Ticks};

/// Ticks at multiples of a period, created by [`interval()`] or [`interval_at`].
///
/// An interval costs nothing between two calls of [`tick`](Self::tick). Plain threads may use it
/// too.
#[must_use = "ticks are waited for by `tick`"]
#[derive(Clone, Debug)]
pub struct Interval {
    ticks: Ticks,
    period: Duration,
}

/// Returns ticks at multiples of a period, beginning now.
///
/// ```
/// use sinew::time;
/// use std::time::{Duration, Instant};
///
/// let begun = Instant::now();
/// let mut ticks = time::interval(Duration::from_millis(2));
/// ticks.tick();
/// // Work between two ticks does not delay the next one if it takes less than the period.
/// for _ in 0..3 {
///     ticks.tick();
/// }
/// assert!(begun.elapsed() >= Duration::from_millis(6));
/// ```
///
/// # Panics
///
/// Panics if the period is zero.
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    interval_at(rt::now(), period)
}

/// Returns ticks at multiples of a period, beginning at `start`.
///
/// # Panics
///
/// Panics if the period is zero.
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    Interval { ticks: Ticks::periodic(Some(start), period), period }
}

impl Interval {
    /// Sets what happens to ticks that passed before [`tick`](Self::tick) was called for them. The
    /// default is [`MissedTicks::Burst`].
    pub fn missed(mut self, missed: MissedTicks) -> Self {
        self.ticks.missed = missed.inner();
        self
    }

    /// Sleeps until the next tick, and returns the moment of the tick. If that moment overflows the
    /// clock, this does not return.
    pub fn tick(&mut self) -> Instant {
        let Some(tick) = self.ticks.next else { sleep_for_ever() };
        sleep_until(tick);
        self.ticks.advance(rt::now());
        tick
    }

    /// Sleeps as [`tick`](Self::tick) does, but returns early when the caller is cancelled or its
    /// deadline passes. The tick is then still to come.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller was cancelled, or its deadline has passed, before the tick or
    /// before the call.
    #[track_caller]
    pub fn tick_cancellable(&mut self) -> Result<Instant, Stopped> {
        let Some(tick) = self.ticks.next else {
            sleep_cancellable(Duration::MAX)?;
            return Ok(self.tick());
        };
        sleep_until_cancellable(tick)?;
        self.ticks.advance(rt::now());
        Ok(tick)
    }

    /// Resets the interval: the next tick is one period from now, and later ones at multiples of
    /// the period from there.
    pub fn reset(&mut self) {
        self.ticks.next = rt::now().checked_add(self.period);
    }

    /// Returns the period.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.period
    }
}

fn sleep_for_ever() -> ! {
    loop {
        super::sleep(Duration::MAX);
    }
}
