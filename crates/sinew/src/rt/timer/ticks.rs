//! The moments at which a timer is due. Knows no timer and no clock: callers pass the time.

use std::time::{Duration, Instant};

/// What happens to ticks that have passed before they were handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Missed {
    /// They come at once, one after the other.
    #[default]
    Burst,
    /// They are skipped: the next tick is the first multiple of the period that lies in the future.
    Skip,
    /// They are skipped, and the next tick comes one period from now.
    Delay,
}

/// The moments at which a timer is due: one, or a first one and a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticks {
    /// `None` if it lies beyond the end of the clock: then it never comes.
    pub(crate) next: Option<Instant>,
    /// Not zero. `None` if there is only one moment.
    pub(crate) period: Option<Duration>,
    pub(crate) missed: Missed,
}

impl Ticks {
    pub(crate) fn once(at: Option<Instant>) -> Self {
        Self { next: at, period: None, missed: Missed::default() }
    }

    /// Returns ticks with this period.
    ///
    /// # Panics
    ///
    /// If the period is zero.
    #[track_caller]
    pub(crate) fn periodic(first: Option<Instant>, period: Duration) -> Self {
        assert!(!period.is_zero(), "a period of zero has no next tick: give a longer one, at least 1 ns");
        Self { next: first, period: Some(period), missed: Missed::default() }
    }

    /// Moves on to the following tick, after the present one was handled at this moment.
    pub(crate) fn advance(&mut self, now: Instant) {
        self.next = self.following(now);
    }

    fn following(&self, now: Instant) -> Option<Instant> {
        let (tick, period) = (self.next?, self.period?);
        let next = tick.checked_add(period)?;
        match self.missed {
            _ if next > now => Some(next),
            Missed::Burst => Some(next),
            Missed::Skip => now.checked_add(to_next(now.duration_since(tick), period)),
            Missed::Delay => now.checked_add(period),
        }
    }
}

/// Returns how long it takes until the next multiple of the period, which is not now.
fn to_next(since: Duration, period: Duration) -> Duration {
    let into = since.as_nanos() % period.as_nanos();
    // Less than the period, so it fits.
    period - Duration::new((into / 1_000_000_000) as u64, (into % 1_000_000_000) as u32)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(10);

    fn at(start: Instant, millis: u64) -> Instant {
        start + Duration::from_millis(millis)
    }

    /// Returns the ticks that follow the first one, if they are handled at these moments.
    fn run(missed: Missed, seen: &[u64]) -> Vec<u128> {
        let start = Instant::now();
        let mut ticks = Ticks { missed, ..Ticks::periodic(Some(start), PERIOD) };
        let follow = |millis: &u64| {
            ticks.advance(at(start, *millis));
            ticks.next.unwrap().duration_since(start).as_millis()
        };
        seen.iter().map(follow).collect()
    }

    #[test]
    fn ticks_in_time_are_multiples_of_the_period() {
        for missed in [Missed::Burst, Missed::Skip, Missed::Delay] {
            assert_eq!(run(missed, &[1, 12, 29, 30]), [10, 20, 30, 40]);
        }
    }

    #[test]
    fn missed_ticks_are_dealt_with() {
        assert_eq!(run(Missed::Burst, &[0, 35, 35, 35, 41]), [10, 20, 30, 40, 50]);
        assert_eq!(run(Missed::Skip, &[0, 35, 40, 60]), [10, 40, 50, 70]);
        assert_eq!(run(Missed::Delay, &[0, 35, 46]), [10, 45, 55]);
    }

    /// With every policy, no tick repeats before time has passed.
    #[test]
    fn a_clock_that_stands_still_brings_no_further_tick() {
        for missed in [Missed::Burst, Missed::Skip, Missed::Delay] {
            let start = Instant::now();
            let mut ticks = Ticks { missed, ..Ticks::periodic(Some(start), PERIOD) };
            ticks.advance(start);
            assert_eq!(ticks.next, Some(start + PERIOD));
        }
    }

    #[test]
    fn the_clocks_end_is_the_end() {
        let start = Instant::now();
        let mut ticks = Ticks::periodic(Some(start), Duration::MAX);
        ticks.advance(start);
        assert_eq!(ticks.next, None);
        ticks.advance(start);
        assert_eq!(ticks.next, None);
        let mut once = Ticks::once(Some(start));
        once.advance(start);
        assert_eq!(once.next, None);
    }
}
