//! Whether a pool takes work, drains, or is over, and waiting for that. Knows no worker.

mod stage;

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) use stage::{Stage, StageWord};

/// How often to look again for threads that are on their way out.
const ONE_LOOK: Duration = Duration::from_millis(5);

/// The stage, and what waits for it to change.
#[derive(Debug)]
pub(crate) struct Life {
    stage: StageWord,
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    deadline: Option<Instant>,
    /// Nothing was left when it ended.
    drained: bool,
    running_threads: usize,
}

impl Life {
    pub(crate) fn new() -> Self {
        Self { stage: StageWord::new(), inner: Mutex::default(), changed: Condvar::new() }
    }

    #[inline]
    pub(crate) fn stage(&self) -> Stage {
        self.stage.get()
    }

    /// The stage, for somebody who has just put a task into a queue: if it is over, the caller sweeps.
    pub(crate) fn stage_after_push(&self) -> Stage {
        self.stage.get_after_push()
    }

    /// Takes no new work from now on. An earlier deadline stays.
    pub(crate) fn begin_drain(&self, deadline: Option<Instant>) {
        let mut inner = self.lock();
        inner.deadline = match (inner.deadline, deadline) {
            (Some(old), Some(new)) => Some(old.min(new)),
            (old, new) => old.or(new),
        };
        self.stage.begin_drain();
    }

    /// When draining has to end.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.lock().deadline
    }

    /// Ends it. The caller sweeps the queues afterwards.
    pub(crate) fn end(&self, drained: bool) {
        let mut inner = self.lock();
        if self.stage() == Stage::Over {
            return;
        }
        inner.drained = drained;
        self.stage.end();
        self.changed.notify_all();
    }

    pub(crate) fn was_drained(&self) -> bool {
        self.lock().drained
    }

    pub(crate) fn thread_begins(&self) {
        self.lock().running_threads += 1;
    }

    pub(crate) fn thread_ends(&self) {
        self.lock().running_threads -= 1;
        self.changed.notify_all();
    }

    /// Waits until it is over, or the deadline. Returns whether it is over.
    pub(crate) fn wait_until_over(&self) -> bool {
        let mut inner = self.lock();
        while self.stage() != Stage::Over {
            let Some(left) = time_left(inner.deadline) else { return false };
            inner = self.wait(inner, left);
        }
        true
    }

    /// Waits until no thread runs any more; after this moment only for those that `are_ending`.
    pub(crate) fn wait_for_threads(&self, until: Option<Instant>, are_ending: impl Fn() -> bool) {
        let mut inner = self.lock();
        while inner.running_threads > 0 {
            let left = match time_left(until) {
                Some(left) => left,
                None if are_ending() => ONE_LOOK,
                None => return,
            };
            inner = self.wait(inner, left);
        }
    }

    fn wait<'a>(&self, inner: MutexGuard<'a, Inner>, left: Duration) -> MutexGuard<'a, Inner> {
        let (inner, _) = self.changed.wait_timeout(inner, left).unwrap_or_else(PoisonError::into_inner);
        inner
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Time until a deadline, in steps that a condition variable can wait; none if it is past.
fn time_left(deadline: Option<Instant>) -> Option<Duration> {
    let longest = Duration::from_secs(3600);
    match deadline {
        None => Some(longest),
        Some(deadline) => {
            let left = deadline.saturating_duration_since(Instant::now());
            (!left.is_zero()).then_some(left.min(longest))
        }
    }
}
