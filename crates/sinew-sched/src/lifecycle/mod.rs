//! The stages of a pool (open, draining, over), and waiting for them. Knows no worker.

mod awake;
mod beginning;
mod coalesced_run;
mod stage;
mod threads;

use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

use crate::clock::Clock;

pub(crate) use awake::Awake;
pub(crate) use beginning::Beginning;
pub(crate) use coalesced_run::CoalescedRun;
pub(crate) use stage::{Stage, StageWord};
pub(crate) use threads::Threads;

use crate::sync::{Condvar, Lock, ignore_poison};

/// The stage, and the threads that wait for it to change.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    /// Every worker reads the stage before every task, so no other changing value shares its cache
    /// line.
    stage: CachePadded<StageWord>,
    inner: Lock<Inner>,
    changed: Condvar,
    clock: Clock,
}

#[derive(Debug, Default)]
struct Inner {
    deadline: Option<Instant>,
    /// Whether nothing was left when the pool ended.
    drained: bool,
}

impl Lifecycle {
    pub(crate) fn new(clock: Clock) -> Self {
        Self {
            stage: CachePadded::new(StageWord::new()),
            inner: Lock::default(),
            changed: Condvar::new(),
            clock,
        }
    }

    #[inline]
    pub(crate) fn stage(&self) -> Stage {
        self.stage.get()
    }

    /// Returns the stage, to a caller that has just put a task into a queue: if the pool is over,
    /// the caller sweeps.
    pub(crate) fn stage_after_push(&self) -> Stage {
        self.stage.get_after_push()
    }

    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.stage() == Stage::Over
    }

    /// Refuses new work from now on. An earlier deadline stays; a new one also counts for the
    /// callers that wait already. The caller tells the workers after this.
    pub(crate) fn begin_drain(&self, deadline: Option<Instant>) {
        let mut inner = self.inner.lock();
        inner.deadline = match (inner.deadline, deadline) {
            (Some(old), Some(new)) => Some(old.min(new)),
            (old, new) => old.or(new),
        };
        self.stage.begin_drain();
        self.changed.notify_all();
    }

    /// Returns when draining has to end; none, if it has not begun.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        if self.stage() == Stage::Draining { self.inner.lock().deadline } else { None }
    }

    /// Returns whether the deadline of the drain has passed.
    pub(crate) fn is_late(&self) -> bool {
        self.deadline().is_some_and(|deadline| (self.clock)() >= deadline)
    }

    /// Ends the pool. The caller sweeps the queues afterwards.
    pub(crate) fn end(&self, drained: bool) {
        let mut inner = self.inner.lock();
        if self.is_over() {
            return;
        }
        inner.drained = drained;
        self.stage.end();
        self.changed.notify_all();
    }

    pub(crate) fn was_drained(&self) -> bool {
        self.inner.lock().drained
    }

    /// Waits until the pool is over, or until the deadline. Returns whether it is over.
    pub(crate) fn wait_until_over(&self) -> bool {
        let mut inner = self.inner.lock();
        while !self.is_over() {
            let Some(left) = time_left(inner.deadline, self.clock) else { return false };
            (inner, _) = ignore_poison(self.changed.wait_timeout(inner, left));
        }
        true
    }
}

/// Returns the time until a deadline, at most as long as a condition variable can wait; none if it
/// has passed.
fn time_left(deadline: Option<Instant>, clock: Clock) -> Option<Duration> {
    let longest = Duration::from_secs(3600);
    match deadline {
        None => Some(longest),
        Some(deadline) => {
            let left = deadline.saturating_duration_since(clock());
            (!left.is_zero()).then_some(left.min(longest))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::tests::HandClock;

    #[test]
    fn a_drain_is_late_from_its_deadline_on() {
        static CLOCK: HandClock = HandClock::new();
        let life = Lifecycle::new(|| CLOCK.now());
        assert!(!life.is_late(), "it has not begun");
        life.begin_drain(None);
        assert!(!life.is_late(), "it has no deadline");
        let deadline = CLOCK.now() + Duration::from_secs(2);
        life.begin_drain(Some(deadline));
        assert!(!life.is_late());
        CLOCK.pass(Duration::from_secs(1));
        life.begin_drain(Some(CLOCK.now()));
        assert!(life.is_late(), "the earlier deadline counts");
        assert!(!life.wait_until_over(), "the deadline has passed");
        life.end(false);
        assert!(!life.is_late(), "it is over");
        assert!(life.wait_until_over());
    }
}
