//! How long to search before sleeping. Reads the pool's clock.
//!
//! A search pays if something comes soon: what comes within the time that a wake costs is better waited for awake. Whether it does is
//! guessed from the last times. A worker whose sleeps were long, as if it had nothing but timers, searches for less and less, down to one round;
//! one that would have found something if it had searched for longer, or has found something, searches for as long as a wake costs.
//!
//! What the worker's own driver tells is not waited for awake: nobody has to wake it for that but the kernel, and while it sleeps more
//! comes, which is then seen to in one go. A server that looked for 50 µs before it slept took a fifth more processor time for each request, and answered
//! no more of them.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::clock::Clock;

/// About what it takes to wake a thread on another CPU: to search for less time than a wake costs loses to sleeping, for
/// more time to not sleeping.
pub(crate) const SPIN: Duration = Duration::from_micros(50);

/// Rounds between looks at the clock.
const ROUNDS: u32 = 8;

/// Below this, one round is as good.
const SHORTEST: Duration = Duration::from_micros(4);

/// How long a worker searches before it sleeps. Adapts to whether searching was worth it.
#[derive(Debug)]
pub(crate) struct SpinBudget(Cell<Duration>);

impl SpinBudget {
    pub(crate) fn new() -> Self {
        Self(Cell::new(SPIN))
    }

    /// Begins to search.
    pub(crate) fn start(&self, clock: Clock) -> Spin {
        Spin::start(self.0.get(), clock)
    }

    /// The search was worth it.
    pub(crate) fn found(&self) {
        self.0.set(SPIN);
    }

    /// Searching came to nothing, and this was the sleep after it. Somebody has ended it, or time has.
    pub(crate) fn slept(&self, time: Duration) {
        if time < SPIN { self.found() } else { self.told() }
    }

    /// The own driver had something, whether it was searched for or slept.
    pub(crate) fn told(&self) {
        let shorter = self.0.get() / 2;
        self.0.set(if shorter < SHORTEST { Duration::ZERO } else { shorter });
    }
}

/// A stretch of searching.
#[derive(Debug)]
pub(crate) struct Spin {
    /// None, when it is over.
    end: Option<Instant>,
    rounds: u32,
}

impl Spin {
    fn start(time: Duration, clock: Clock) -> Self {
        if time.is_zero() {
            return Self::spent();
        }
        Self { end: Some(clock() + time), rounds: 0 }
    }

    /// No time at all: one round.
    pub(crate) fn spent() -> Self {
        Self { end: None, rounds: 0 }
    }

    /// Whether it has taken more than a look.
    pub(crate) fn has_waited(&self) -> bool {
        self.rounds > 0
    }

    /// Whether the time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.end.is_none()
    }

    /// Between two rounds.
    pub(crate) fn pause(&mut self, clock: Clock) {
        core::hint::spin_loop();
        self.rounds += 1;
        if self.rounds.is_multiple_of(ROUNDS) {
            self.end = self.end.filter(|end| clock() < *end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SYSTEM;
    use crate::clock::tests::HandClock;

    #[test]
    fn long_sleeps_shorten_the_search_and_a_short_one_restores_it() {
        let spin_budget = SpinBudget::new();
        assert_eq!(spin_budget.0.get(), SPIN);
        spin_budget.slept(SPIN);
        assert_eq!(spin_budget.0.get(), SPIN / 2);
        spin_budget.slept(SPIN * 100);
        assert_eq!(spin_budget.0.get(), SPIN / 4);
        spin_budget.slept(SPIN.saturating_sub(Duration::from_nanos(1)));
        assert_eq!(spin_budget.0.get(), SPIN);
        (0..10).for_each(|_| spin_budget.slept(SPIN));
        assert_eq!(spin_budget.0.get(), Duration::ZERO);
        assert!(spin_budget.start(SYSTEM).is_over(), "one round");
    }

    #[test]
    fn a_search_ends_when_its_time_is_over() {
        static CLOCK: HandClock = HandClock::new();
        let pause = |spin: &mut Spin| (0..ROUNDS).for_each(|_| spin.pause(|| CLOCK.now()));
        let mut spin = SpinBudget::new().start(|| CLOCK.now());
        pause(&mut spin);
        CLOCK.pass(SPIN.saturating_sub(Duration::from_nanos(1)));
        pause(&mut spin);
        assert!(!spin.is_over());
        CLOCK.pass(Duration::from_nanos(1));
        pause(&mut spin);
        assert!(spin.is_over());
    }

    #[test]
    fn a_search_has_waited_after_its_first_pause() {
        let mut spin = Spin::spent();
        assert!(!spin.has_waited());
        spin.pause(SYSTEM);
        assert!(spin.has_waited());
        spin.pause(SYSTEM);
        assert!(spin.has_waited());
    }
}
