//! When a timer is due. Knows no timer.

use std::time::{Duration, Instant};

use super::missed_ticks::MissedTicks;
use crate::rt::{self, Ticks};

/// When a [`Timer`](super::Timer) is due: once, or at a first moment and then again and again.
///
/// It is made of moments: a schedule that says "after a second" means a second after it was made.
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
    /// Once, so long from now; at once, if that is zero; never, if it lies beyond the clock's end.
    #[inline]
    pub fn after(delay: Duration) -> Self {
        Self(Ticks::once(rt::now().checked_add(delay)))
    }

    /// Once, at this moment; at once, if it has passed.
    #[inline]
    pub fn at(when: Instant) -> Self {
        Self(Ticks::once(Some(when)))
    }

    /// Again and again: the first time a period from now, and then at multiples of the period from there, however long callbacks take.
    ///
    /// # Panics
    ///
    /// If the period is zero.
    #[track_caller]
    pub fn every(period: Duration) -> Self {
        Self(Ticks::periodic(rt::now().checked_add(period), period))
    }

    /// The same, but for the first time at this moment.
    pub fn first_at(mut self, first: Instant) -> Self {
        self.0.next = Some(first);
        self
    }

    /// What becomes of ticks that passed while a callback ran: [`MissedTicks::Burst`] unless set.
    pub fn missed(mut self, missed: MissedTicks) -> Self {
        self.0.missed = missed.inner();
        self
    }

    /// The first moment; none, if it lies beyond the clock's end.
    #[must_use]
    pub fn next(&self) -> Option<Instant> {
        self.0.next
    }

    /// The period, if there is one.
    #[must_use]
    pub fn period(&self) -> Option<Duration> {
        self.0.period
    }
}
