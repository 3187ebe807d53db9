//! The report of a shutdown, and the wait for the threads before it.

use std::time::{Duration, Instant};

use crate::lifecycle::Stage;
use crate::pool_shared::PoolShared;
use crate::stats::WorkerState;

/// How long to wait for threads that show no sign of ending.
const GRACE: Duration = Duration::from_millis(200);
/// How long to wait for workers that sleep or search, and will see that the pool is over. Not for
/// ever, since their drivers may fail to wake them.
const LONGEST_WAY_OUT: Duration = Duration::from_secs(5);

/// The outcome of a shutdown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// Whether all work was done and all threads ended.
    pub drained: bool,
    /// Whether the caller waited for the end. False if one of the pool's own workers shut it down.
    pub waited: bool,
    /// Number of tasks that had not begun, and were discarded.
    pub discarded: usize,
    /// Workers whose threads were left behind.
    pub stuck: Vec<StuckWorker>,
}

/// A worker whose thread was left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StuckWorker {
    /// The worker's number.
    pub worker: usize,
    /// Number of tasks that have begun there, cannot move, and have not ended.
    pub owned: isize,
    /// Whether a task that had not returned was running there, or was being discarded.
    pub is_running: bool,
}

/// Waits for the threads that can end, and reports the others. Without a deadline it also waits for
/// stop hooks that take long: the caller has set no limit.
pub(super) fn after_end(shared: &PoolShared, has_deadline: bool) -> ShutdownReport {
    debug_assert_eq!(shared.lifecycle.stage(), Stage::Over, "threads are waited for at the end");
    let drained = shared.lifecycle.was_drained();
    let mut patience = ShutdownPatience::new(shared);
    // After a drain, the threads have nothing left to do but their hooks.
    shared.threads.wait(|| drained && !has_deadline || patience.is_left(shared));
    // The stuck workers are read first: a thread that ends after this has discarded all that it
    // will.
    let stuck: Vec<_> = stuck(shared).collect();
    let discarded = shared.discarded.get() as usize;
    ShutdownReport { drained: drained && stuck.is_empty() && discarded == 0, waited: true, discarded, stuck }
}

/// How long to wait for threads that may never end.
struct ShutdownPatience {
    discarded: u64,
    since: Instant,
}

impl ShutdownPatience {
    fn new(shared: &PoolShared) -> Self {
        Self { discarded: shared.discarded.get(), since: (shared.clock)() }
    }

    /// Returns whether to wait on: while a thread is on its way out, or discards one task after
    /// another, and for a moment after that.
    fn is_left(&mut self, shared: &PoolShared) -> bool {
        let is_leaving = |state| matches!(state, WorkerState::Searching | WorkerState::Sleeping);
        if self.discarded != shared.discarded.get() {
            *self = Self::new(shared);
        }
        let waited = (shared.clock)().saturating_duration_since(self.since);
        may_wait_on(waited, || shared.seats().any(|(_, seat)| is_leaving(seat.counters.state())))
    }
}

/// Returns whether to go on waiting after this time. `is_one_leaving` says whether a worker sleeps
/// or searches, so that it will see that the pool is over.
fn may_wait_on(waited: Duration, is_one_leaving: impl FnOnce() -> bool) -> bool {
    waited < GRACE || waited < LONGEST_WAY_OUT && is_one_leaving()
}

fn stuck(shared: &PoolShared) -> impl Iterator<Item = StuckWorker> {
    shared.seats().filter_map(|(worker, seat)| {
        let (owned, state) = (seat.counters.owned(), seat.counters.state());
        let is_stuck = owned > 0 || state != WorkerState::Absent;
        is_stuck.then(|| StuckWorker { worker, owned, is_running: is_at_work(state) })
    })
}

fn is_at_work(state: WorkerState) -> bool {
    matches!(state, WorkerState::Running | WorkerState::Blocked | WorkerState::Stopping)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_on_their_way_out_are_waited_for_longer() {
        let nearly = |time: Duration| time - Duration::from_nanos(1);
        let waits = |time, is_one_leaving: bool| may_wait_on(time, || is_one_leaving);
        assert!(waits(Duration::ZERO, false) && waits(nearly(GRACE), false));
        assert!(!waits(GRACE, false));
        assert!(waits(GRACE, true) && waits(nearly(LONGEST_WAY_OUT), true));
        assert!(!waits(LONGEST_WAY_OUT, true));
    }
}
