//! The moments at which a timer is due. Does not know timers.

use std::time::{Duration, Instant};

use super::missed_ticks::MissedTicks;
use crate::rt::{self, Ticks};

/// The moments at which a [`Timer`](super::Timer) is due: a single one, or a first one and further
/// ones at a period.
///
/// A schedule consists of moments, not of delays: "after a second" means a second after the
/// schedule was created.
///
/// ```
/// use sinew::time::Schedule;
/// use std::time::{Duration, Instant};
///
/// let (now, second) = (Instant::now(), Duration::from_secs(1));
/// assert_eq!(Schedule::at(now), Schedule::at(now));
/// assert_eq!(Schedule::every(second).first_at(now).period(), Some(second));
/// assert_eq!(Schedule::after(Duration::MAX).next(), None);
/// ```
#[must_use = "a schedule is for `Timer::arm`"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule(pub(super) Ticks);

impl Schedule {
    /// Creates a schedule that is due once, after `delay`: at once if that is zero, and never if
    /// the moment overflows the clock.
    #[inline]
    pub fn after(delay: Duration) -> Self {
        Self(Ticks::once(rt::now().checked_add(delay)))
    }

    /// Creates a schedule that is due once, at this moment, or at once if the moment has passed.
    #[inline]
    pub fn at(when: Instant) -> Self {
        Self(Ticks::once(Some(when)))
    }

    /// Creates a schedule that is due repeatedly: first one period from now, and then at multiples
    /// of the period from there, regardless of how long callbacks take.
    ///
    /// # Panics
    ///
    /// Panics if the period is zero.
    #[track_caller]
    pub fn every(period: Duration) -> Self {
        Self(Ticks::periodic(rt::now().checked_add(period), period))
    }

    /// Sets the first moment.
    pub fn first_at(mut self, first: Instant) -> Self {
        self.0.next = Some(first);
        self
    }

    /// Sets what happens to ticks that pass while a callback runs. The default is
    /// [`MissedTicks::Burst`].
    pub fn missed(mut self, missed: MissedTicks) -> Self {
        self.0.missed = missed.inner();
        self
    }

    /// Returns the first moment, or `None` if it overflows the clock.
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        self.0.next
    }

    /// Returns the period, or `None` if the schedule is due only once.
    #[must_use]
    pub fn period(&self) -> Option<Duration> {
        self.0.period
    }
}
