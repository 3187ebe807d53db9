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
    /// For ever.
    pub(crate) const NEVER: Self = Self::until(None);

    /// Until this moment; for ever, if there is none.
    #[inline]
    pub(crate) const fn until(until: Option<Instant>) -> Self {
        Self { until, observes_stops: false, phase: Phase::First }
    }

    /// For so long.
    pub(crate) fn lasting(time: Duration) -> Self {
        // A moment beyond the clock's end never comes.
        Self::until(clock::now().checked_add(time))
    }

    /// For ever, unless the caller is to stop.
    pub(crate) const STOP: Self = Self { until: None, observes_stops: true, phase: Phase::First };

    /// This moment at the latest, if there is one.
    pub(crate) fn or_until(self, moment: Option<Instant>) -> Self {
        Self { until: [moment, self.until].into_iter().flatten().min(), ..self }
    }

    /// The same for a wait that continues an operation, which others may know of: it never panics. Where the fiber must not
    /// suspend, it holds its worker instead.
    #[inline]
    pub(crate) const fn later(self) -> Self {
        Self { phase: Phase::Later, ..self }
    }

    /// Where a wait with this limit enters a queue: one that continues an operation goes to the front.
    #[inline]
    pub(crate) fn place(self) -> Place {
        if self.phase == Phase::First { Place::Back } else { Place::Front }
    }

    /// The limit of the next wait of an operation; those after it [continue](Self::later) the operation.
    #[inline]
    pub(crate) fn next_wait(&mut self) -> Self {
        let now = *self;
        *self = now.later();
        now
    }

    /// Whether its time is over.
    pub(crate) fn is_over(self) -> bool {
        self.until.is_some_and(|until| until <= clock::now())
    }

    /// Sleeps until this moment; for ever, if there is none.
    ///
    /// # Errors
    ///
    /// If the limit is reached before.
    pub(crate) fn sleep_until(self, when: Option<Instant>) -> Result<(), GaveUp> {
        let mut limit = self;
        turn::spend(1);
        loop {
            let nearer = limit.next_wait().or_until(when);
            let is_mine = nearer.until.is_some() && nearer.until != when;
            match nearer.wait(WaitKind::Sleep.alone(), |_| !nearer.is_over()) {
                Err(stop) => return Err(GaveUp::Stopped(stop)),
                // A poke that is no reason to stop.
                Ok(Cause::Cancel) => {}
                Ok(_) if is_mine => return Err(GaveUp::TimedOut),
                Ok(_) => return Ok(()),
            }
        }
    }

    /// When it ends; never, if there is no such moment.
    pub(crate) fn moment(self) -> Option<Instant> {
        self.until
    }

    /// One wait, of which `publish` tells others, if it is needed.
    #[inline]
    pub(crate) fn wait(self, on: WaitOn, publish: impl FnOnce(Waiter) -> bool) -> Result<Cause, Stop> {
        match self.observes_stops {
            false => Ok(wait(self.phase, on, Ends::ByEvent, self.until, publish)),
            true => wait_or_stop(self.phase, on, Ends::ByEvent, self.until, publish),
        }
    }

    /// The same, for one who is known under one lock only.
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

    /// Waits with a time limit, or for a stop. Is no generic function: the usual way, which knows
    /// neither, is then short enough to be inlined where it is used.
    #[inline(never)]
    fn wait_unusually(self, on: WaitOn, publish: Publish<'_>) -> Result<Cause, Stop> {
        self.wait(on, publish)
    }
}

/// How a wait ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// There was nothing to wait for.
    NotNeeded,
    /// Somebody claimed it.
    Woken,
    /// Its time was over, and nobody claimed it.
    TimedOut,
    /// The caller is to stop, and nobody claimed it.
    Stopped(Stop),
}

impl Outcome {
    /// # Errors
    ///
    /// If what was waited for has not come.
    #[inline]
    pub(crate) fn into_result(self) -> Result<(), GaveUp> {
        match self {
            Self::NotNeeded | Self::Woken => Ok(()),
            Self::TimedOut => Err(GaveUp::TimedOut),
            Self::Stopped(stop) => Err(GaveUp::Stopped(stop)),
        }
    }
}

/// Why a call that waits has not come to its end.
#[derive(Clone, Debug)]
pub(crate) enum GaveUp {
    TimedOut,
    Stopped(Stop),
}
