//! The terms of a wait: how long it may last, and how it ended. Knows no queue.

use std::time::{Duration, Instant};

use super::super::reason::{WaitKind, WaitOn};
use super::super::stop::{Stop, wait_or_stop};
use super::super::suspend::{Phase, Publish, once, wait};
use super::super::turn;
use super::super::waiter::Waiter;
use super::super::word::{Cause, Ends};
use super::Place;
use crate::rt::base::clock;

/// How long a wait may last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    until: Option<Instant>,
    observes_stops: bool,
    phase: Phase,
}

impl Limit {
    /// No limit.
    pub(crate) const NEVER: Self = Self::until(None);

    /// Returns a limit at this moment, or none.
    #[inline]
    pub(crate) const fn until(until: Option<Instant>) -> Self {
        Self { until, observes_stops: false, phase: Phase::First }
    }

    /// Returns a limit after this time.
    pub(crate) fn lasting(time: Duration) -> Self {
        // A moment beyond the end of the clock never comes.
        Self::until(clock::now().checked_add(time))
    }

    /// No time limit, but a stop of the caller ends the wait.
    pub(crate) const STOP: Self = Self { until: None, observes_stops: true, phase: Phase::First };

    /// Returns this limit, or the moment if that is earlier.
    pub(crate) fn or_until(self, moment: Option<Instant>) -> Self {
        Self { until: [moment, self.until].into_iter().flatten().min(), ..self }
    }

    /// Returns the same limit for a wait that continues an operation, which other threads may know
    /// of. Such a wait never panics. Where the fiber must not suspend, it holds its worker instead.
    #[inline]
    pub(crate) const fn later(self) -> Self {
        Self { phase: Phase::Later, ..self }
    }

    /// Returns where a wait with this limit enters a queue. A wait that continues an operation goes
    /// to the front.
    #[inline]
    pub(crate) fn place(self) -> Place {
        if self.phase == Phase::First { Place::Back } else { Place::Front }
    }

    /// Returns the limit of the next wait of an operation. The waits after it
    /// [continue](Self::later) the operation.
    #[inline]
    pub(crate) fn next_wait(&mut self) -> Self {
        let now = *self;
        *self = now.later();
        now
    }

    /// Returns whether the time limit has been reached.
    pub(crate) fn is_over(self) -> bool {
        self.until.is_some_and(|until| until <= clock::now())
    }

    /// Sleeps until this moment, or for ever if there is none.
    ///
    /// # Errors
    ///
    /// Returns an error if the limit is reached before that moment.
    pub(crate) fn sleep_until(self, when: Option<Instant>) -> Result<(), GaveUp> {
        let mut limit = self;
        turn::spend(1);
        loop {
            let nearer = limit.next_wait().or_until(when);
            let is_mine = nearer.until.is_some() && nearer.until != when;
            match nearer.wait_unusually(WaitKind::Sleep.alone(), &mut |_| !nearer.is_over()) {
                Err(stop) => return Err(GaveUp::Stopped(stop)),
                // A poke without a reason to stop.
                Ok(Cause::Cancel) => {}
                Ok(_) if is_mine => return Err(GaveUp::TimedOut),
                Ok(_) => return Ok(()),
            }
        }
    }

    /// Returns the moment of the time limit, if there is one.
    pub(crate) fn moment(self) -> Option<Instant> {
        self.until
    }

    /// Waits once. `publish` makes the waiter known to its wakers, if the wait is needed.
    #[inline]
    pub(crate) fn wait(self, on: WaitOn, publish: impl FnOnce(Waiter) -> bool) -> Result<Cause, Stop> {
        match self.observes_stops {
            false => Ok(wait(self.phase, on, Ends::ByEvent, self.until, publish)),
            true => wait_or_stop(self.phase, on, Ends::ByEvent, self.until, publish),
        }
    }

    /// [Waits](Self::wait) as a waiter that is registered under one lock only.
    #[inline]
    pub(super) fn wait_under_lock(
        self,
        on: WaitOn,
        publish: impl FnOnce(Waiter) -> bool,
    ) -> Result<Cause, Stop> {
        match self {
            Self { until: None, observes_stops: false, phase } => {
                Ok(wait(phase, on, Ends::ByHolder, None, publish))
            }
            _ => self.wait_unusually(on, &mut once(publish)),
        }
    }

    /// Waits with a time limit, or for a stop. Not generic: the usual path, which has neither, is
    /// then short enough to be inlined into its callers, and this one is compiled once.
    #[inline(never)]
    pub(super) fn wait_unusually(self, on: WaitOn, publish: Publish<'_>) -> Result<Cause, Stop> {
        self.wait(on, publish)
    }
}

/// How a wait ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// There was nothing to wait for.
    NotNeeded,
    /// A waker claimed the waiter.
    Woken,
    /// The time limit was reached, and no waker claimed the waiter.
    TimedOut,
    /// The caller is to stop, and no waker claimed the waiter.
    Stopped(Stop),
}

impl Outcome {
    /// # Errors
    ///
    /// Returns an error if the caller gave up waiting.
    #[inline]
    pub(crate) fn into_result(self) -> Result<(), GaveUp> {
        match self {
            Self::NotNeeded | Self::Woken => Ok(()),
            Self::TimedOut => Err(GaveUp::TimedOut),
            Self::Stopped(stop) => Err(GaveUp::Stopped(stop)),
        }
    }
}

/// Why an operation gave up.
#[derive(Clone, Debug)]
pub(crate) enum GaveUp {
    TimedOut,
    Stopped(Stop),
}
