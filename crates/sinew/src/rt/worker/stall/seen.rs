//! What the watcher has seen so far: for how long each worker has run the same task. Knows times
//! and counts, but no fiber.

use std::time::{Duration, Instant};

use sinew_sched::{WorkerState, WorkerStats};

/// How often the watcher checks within the time after which a stall is reported.
pub(super) const LOOKS: u32 = 8;

/// The progress of all workers.
#[derive(Default)]
pub(super) struct SeenWorkers {
    workers: Vec<Progress>,
    last_look: Option<Instant>,
    /// Whether it was reported that every worker is stuck, and this still holds.
    has_told_of_all: bool,
}

/// The progress of one worker.
#[derive(Clone, Default)]
struct Progress {
    /// How many tasks the worker has begun.
    tasks: u64,
    /// For how long it has worked on the last of them.
    time: Duration,
    /// It need not be reported before it has worked for this time.
    rest: Duration,
}

/// The result of a check.
pub(super) enum Finding {
    /// No worker works.
    Idle,
    /// Nothing to report, or nothing new.
    Nothing,
    /// Every worker is stuck, for at least this time.
    All(Duration),
    /// These workers are stuck, for these times, and others are not.
    Some(Vec<(usize, Duration)>),
}

impl SeenWorkers {
    /// Checks all workers. A worker that has worked on one task for the time `after` is stuck.
    ///
    /// The time between two checks counts as at most an eighth of that: the process or the whole
    /// machine may have been stopped, and then no worker could have begun another task.
    pub(super) fn look(&mut self, workers: &[WorkerStats], now: Instant, after: Duration) -> Finding {
        if !workers.iter().any(works) {
            *self = Self::default();
            return Finding::Idle;
        }
        let way = self.last_look.map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
        self.last_look = Some(now);
        self.workers.resize(workers.len(), Progress::default());
        for (progress, worker) in self.workers.iter_mut().zip(workers) {
            progress.look(worker, way.min(after / LOOKS));
        }
        let present = workers.iter().zip(&self.workers).filter(|(worker, _)| is_present(worker));
        let shortest = present.map(|(_, progress)| progress.time).min().unwrap_or_default();
        if shortest >= after {
            return if self.has_told_of_all { Finding::Nothing } else { Finding::All(shortest) };
        }
        self.has_told_of_all = false;
        let is_new = |(_, progress): &(usize, &Progress)| progress.time >= after.max(progress.rest);
        let stuck = self.workers.iter().enumerate().filter(is_new);
        let stuck: Vec<_> = stuck.map(|(worker, progress)| (worker, progress.time)).collect();
        if stuck.is_empty() { Finding::Nothing } else { Finding::Some(stuck) }
    }

    /// Records that the stall of every worker was reported.
    pub(super) fn tell_of_all(&mut self) {
        self.has_told_of_all = true;
        self.workers.iter_mut().for_each(|progress| progress.rest = Duration::MAX);
    }

    /// Records that the stall of this worker was reported.
    pub(super) fn tell_of(&mut self, worker: usize) {
        self.workers[worker].rest = Duration::MAX;
    }

    /// Records that no fiber waits for this worker: there is nothing to report for the same time
    /// again.
    pub(super) fn put_off(&mut self, worker: usize, after: Duration) {
        let progress = &mut self.workers[worker];
        progress.rest = progress.time + after;
    }
}

impl Progress {
    fn look(&mut self, worker: &WorkerStats, way: Duration) {
        if works(worker) && worker.tasks == self.tasks {
            self.time += way;
        } else {
            *self = Self { tasks: worker.tasks, ..Self::default() };
        }
    }
}

fn is_present(worker: &WorkerStats) -> bool {
    worker.state != WorkerState::Absent
}

/// Returns whether a worker is inside a task or a hook.
pub(super) fn works(worker: &WorkerStats) -> bool {
    is_present(worker) && !matches!(worker.state, WorkerState::Searching | WorkerState::Sleeping)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const AFTER: Duration = Duration::from_millis(800);
    const LOOK: Duration = Duration::from_millis(100);

    /// Checks of workers with these states and numbers of tasks.
    struct Looks(SeenWorkers, Instant);

    impl Looks {
        fn new() -> Self {
            Self(SeenWorkers::default(), Instant::now())
        }

        fn look(&mut self, way: Duration, workers: &[(WorkerState, u64)]) -> Finding {
            let stats = |&(state, tasks): &(WorkerState, u64)| {
                let mut stats = WorkerStats::default();
                (stats.state, stats.tasks) = (state, tasks);
                stats
            };
            self.1 += way;
            self.0.look(&workers.iter().map(stats).collect::<Vec<_>>(), self.1, AFTER)
        }

        /// Returns the first check with something to report.
        fn first_of_ten(&mut self, workers: &[(WorkerState, u64)]) -> Option<(u32, Finding)> {
            let found = |finding: &Finding| !matches!(finding, Finding::Nothing);
            (0..10).map(|look| (look, self.look(LOOK, workers))).find(|(_, finding)| found(finding))
        }
    }

    #[test]
    fn one_of_several_is_stuck_after_that_time() {
        use WorkerState::{Running, Searching, Sleeping};
        for other in [Searching, Sleeping] {
            let mut looks = Looks::new();
            let workers = [(Running, 7), (other, 3)];
            let Some((8, Finding::Some(stuck))) = looks.first_of_ten(&workers) else { panic!() };
            assert_eq!(stuck, [(0, AFTER)]);
            assert!(matches!(looks.look(LOOK, &workers), Finding::Some(_)), "not reported yet");
            looks.0.put_off(0, AFTER);
            assert!(matches!(looks.first_of_ten(&workers), Some((7, Finding::Some(_)))));
            looks.0.tell_of(0);
            assert!(looks.first_of_ten(&workers).is_none(), "reported");
            assert!(matches!(looks.first_of_ten(&[(Running, 8), (other, 3)]), Some((8, Finding::Some(_)))));
        }
    }

    #[test]
    fn all_are_stuck_when_the_last_is() {
        use WorkerState::{Absent, Blocked, Running};
        let mut looks = Looks::new();
        let workers = [(Running, 7), (Absent, 0), (Blocked, 3)];
        for _ in 0..5 {
            assert!(matches!(looks.look(LOOK, &[(Running, 7), (Absent, 0), (Blocked, 2)]), Finding::Nothing));
        }
        let Some((3, Finding::Some(stuck))) = looks.first_of_ten(&workers) else { panic!() };
        assert_eq!(stuck, [(0, AFTER)]);
        looks.0.tell_of(0);
        let Some((4, Finding::All(time))) = looks.first_of_ten(&workers) else { panic!() };
        assert_eq!(time, AFTER);
        looks.0.tell_of_all();
        assert!(looks.first_of_ten(&workers).is_none(), "reported");
        // One of them continues.
        let workers = [(Running, 8), (Absent, 0), (Blocked, 3)];
        assert!(matches!(looks.first_of_ten(&workers), Some((8, Finding::All(_)))));
    }

    #[test]
    fn nothing_is_seen_of_workers_that_do_not_work() {
        use WorkerState::{Absent, Running, Searching, Sleeping};
        let mut looks = Looks::new();
        for _ in 0..5 {
            looks.look(LOOK, &[(Running, 7)]);
        }
        for idle in [Searching, Sleeping, Absent] {
            assert!(matches!(looks.look(LOOK, &[(idle, 7)]), Finding::Idle));
        }
        assert!(matches!(looks.first_of_ten(&[(Running, 7)]), Some((8, Finding::All(_)))), "counted anew");
    }

    #[test]
    fn a_long_time_between_two_checks_counts_as_a_short_one() {
        let mut looks = Looks::new();
        let mut look = |way| looks.look(Duration::from_millis(way), &[(WorkerState::Running, 7)]);
        for way in [0, 0, 100, 40, 3_600_000, 100, 150, 100, 100, 100] {
            assert!(matches!(look(way), Finding::Nothing));
        }
        // 740 ms so far.
        assert!(matches!(look(60), Finding::All(AFTER)));
    }
}
