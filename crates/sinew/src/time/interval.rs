//! Ticks to wait for, in a loop. No timer of their own: each is slept until.

use std::time::{Duration, Instant};

use super::missed_ticks::MissedTicks;
use super::sleep_until;
use crate::fiber::{Stopped, sleep_cancellable, sleep_until_cancellable};
use crate::rt::{self, Ticks};

/// Ticks at multiples of a period, made by [`interval()`] or [`interval_at`].
///
/// It costs nothing while nobody waits for the next tick, and may be used by threads too.
#[must_use = "ticks are waited for by `tick`"]
#[derive(Clone, Debug)]
pub struct Interval {
    ticks: Ticks,
    period: Duration,
}

/// Ticks at multiples of a period, the first of them at once.
///
/// ```
/// use sinew::time;
/// use std::time::{Duration, Instant};
///
/// let begun = Instant::now();
/// let mut ticks = time::interval(Duration::from_millis(2));
/// ticks.tick();
/// // However long the work between two of them takes, unless that is longer than the period.
/// for _ in 0..3 {
///     ticks.tick();
/// }
/// assert!(begun.elapsed() >= Duration::from_millis(6));
/// ```
///
/// # Panics
///
/// If the period is zero.
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    interval_at(rt::now(), period)
}

/// The same, the first of them at this moment.
///
/// # Panics
///
/// If the period is zero.
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    Interval { ticks: Ticks::periodic(Some(start), period), period }
}

impl Interval {
    /// What becomes of ticks that passed while nobody waited for them: [`MissedTicks::Burst`] unless set.
    pub fn missed(mut self, missed: MissedTicks) -> Self {
        self.ticks.missed = missed.inner();
        self
    }

    /// Sleeps until the next tick, and returns the moment that it was for. If it lies beyond the clock's end, this does not return.
    pub fn tick(&mut self) -> Instant {
        let Some(tick) = self.ticks.next else { sleep_for_ever() };
        sleep_until(tick);
        self.ticks.advance(rt::now());
        tick
    }

    /// [`tick`](Self::tick), which cancellation and deadlines end. The tick that was waited for is still to come then.
    ///
    /// # Errors
    ///
    /// If the caller is to stop before the tick, or was to stop already.
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

    /// Has the next tick come a period from now, and later ones at multiples from there.
    pub fn reset(&mut self) {
        self.ticks.next = rt::now().checked_add(self.period);
    }

    /// The period.
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
