//! What came of shutting a pool down.

use std::time::{Duration, Instant};

use crate::group::Group;
use crate::life::Stage;
use crate::stats::WorkerState;

/// How long threads that have nothing to do are waited for, when others have.
const GRACE: Duration = Duration::from_millis(200);

/// What came of a shutdown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShutdownReport {
    /// All work was done, and all threads ended.
    pub drained: bool,
    /// Somebody waited for that; not, if the pool was shut down by one of its own workers.
    pub waited: bool,
    /// Tasks that had not begun, and were discarded.
    pub discarded: usize,
    /// Workers whose threads were left behind.
    pub stuck: Vec<StuckWorker>,
}

/// A worker whose thread was left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StuckWorker {
    /// Its number.
    pub worker: usize,
    /// Tasks that have begun there, cannot move, and have not ended.
    pub owned: isize,
    /// Whether a task was running there that did not return.
    pub is_running: bool,
}

impl ShutdownReport {
    pub(super) fn without_waiting() -> Self {
        Self::default()
    }
}

/// Waits for the threads that can end, and tells about the others.
pub(super) fn after_end(group: &Group, discarded: usize) -> ShutdownReport {
    debug_assert_eq!(group.life.stage(), Stage::Over, "threads are waited for at the end");
    let drained = group.life.was_drained();
    // After a drain nobody is left with anything to do.
    let until = if drained { None } else { Some(Instant::now() + GRACE) };
    group.life.wait_for_threads(until, || group.seats().any(|seat| is_ending(seat.counters.state())));
    let discarded = discarded + group.sweep();
    let stuck: Vec<_> = stuck(group).collect();
    ShutdownReport { drained: drained && stuck.is_empty(), waited: true, discarded, stuck }
}

fn stuck(group: &Group) -> impl Iterator<Item = StuckWorker> {
    group.seats().enumerate().filter_map(|(worker, seat)| {
        let (owned, is_running) = (seat.counters.owned(), is_at_work(seat.counters.state()));
        (owned > 0 || is_running).then_some(StuckWorker { worker, owned, is_running })
    })
}

/// Whether a worker has seen that it is over, or will in a moment.
fn is_ending(state: WorkerState) -> bool {
    state != WorkerState::Absent && !is_at_work(state)
}

fn is_at_work(state: WorkerState) -> bool {
    matches!(state, WorkerState::Running | WorkerState::Blocked)
}
