//! Counters: each is written by one thread, and any thread reads them as a snapshot.

use crate::sync::{AtomicU64, Ordering};

/// A number that one thread counts up, and that other threads may read at any time.
#[derive(Debug)]
pub(crate) struct Count(AtomicU64);

impl Default for Count {
    fn default() -> Self {
        Self(AtomicU64::new(0))
    }
}

impl Count {
    /// Adds to the number. Only for the thread that counts: a load and a store, not an atomic
    /// addition.
    #[inline]
    pub(crate) fn add(&self, more: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
    }

    /// Adds to the number, from any thread.
    #[cold]
    pub(crate) fn add_shared(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a worker is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkerState {
    /// The worker has no thread.
    #[default]
    Absent,
    /// The worker runs tasks.
    Running,
    /// The worker looks for tasks.
    Searching,
    /// The worker sleeps in its driver, or is about to.
    Sleeping,
    /// The worker is inside a blocking section.
    Blocked,
    /// The worker discards its remaining tasks, and ends.
    Stopping,
}

impl WorkerState {
    const ALL: [Self; 6] =
        [Self::Absent, Self::Running, Self::Searching, Self::Sleeping, Self::Blocked, Self::Stopping];
}

/// The counters of one worker.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    state: Count,
    pub(crate) tasks: Count,
    pub(crate) panics: Count,
    pub(crate) steals_tried: Count,
    pub(crate) steals: Count,
    pub(crate) steals_remote: Count,
    pub(crate) affinity_errors: Count,
    pub(crate) searches: Count,
    pub(crate) naps: Count,
    pub(crate) sleeps: Count,
    pub(crate) wakes_for_work: Count,
    pub(crate) wakes_by_post: Count,
    pub(crate) looks: Count,
    pub(crate) looks_for_others: Count,
    /// Tasks begun here, minus those that ended here. Wraps below zero as a signed number does.
    pub(crate) owned: Count,
    /// The same for tasks that may end elsewhere: only the sum over all workers has a meaning.
    pub(crate) roaming: Count,
}

impl Counters {
    pub(crate) fn enter(&self, state: WorkerState) {
        self.state.0.store(state as u64, Ordering::Relaxed);
    }

    pub(crate) fn state(&self) -> WorkerState {
        WorkerState::ALL[self.state.get() as usize]
    }

    pub(crate) fn owned(&self) -> isize {
        self.owned.get().cast_signed() as isize
    }

    pub(crate) fn roaming(&self) -> isize {
        self.roaming.get().cast_signed() as isize
    }

    pub(crate) fn snapshot(&self, driver_errors: u64) -> WorkerStats {
        WorkerStats {
            worker: 0,
            state: self.state(),
            tasks: self.tasks.get(),
            panics: self.panics.get(),
            steals_tried: self.steals_tried.get(),
            steals: self.steals.get(),
            steals_remote: self.steals_remote.get(),
            affinity_errors: self.affinity_errors.get(),
            searches: self.searches.get(),
            naps: self.naps.get(),
            sleeps: self.sleeps.get(),
            wakes_for_work: self.wakes_for_work.get(),
            wakes_by_post: self.wakes_by_post.get(),
            looks: self.looks.get(),
            looks_for_others: self.looks_for_others.get(),
            owned: self.owned(),
            driver_errors,
        }
    }
}

/// What one worker has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerStats {
    /// The worker's number.
    pub worker: usize,
    /// What the worker is doing.
    pub state: WorkerState,
    /// Tasks run.
    pub tasks: u64,
    /// Tasks and hooks that panicked.
    pub panics: u64,
    /// Attempts to take a task from another worker that has one.
    pub steals_tried: u64,
    /// Attempts that took a task.
    pub steals: u64,
    /// Tasks taken from other groups.
    pub steals_remote: u64,
    /// Periods of searching, each up to some tens of microseconds.
    pub searches: u64,
    /// Short sleeps of a searcher that leaves another worker's newest task alone.
    pub naps: u64,
    /// Sleeps in the driver.
    pub sleeps: u64,
    /// System calls made to wake a worker for work that anyone may run.
    pub wakes_for_work: u64,
    /// System calls made to wake a worker for a task that was sent to it.
    pub wakes_by_post: u64,
    /// Polls of the worker's own driver.
    pub looks: u64,
    /// Polls of another worker's driver.
    pub looks_for_others: u64,
    /// Tasks that have begun and cannot move, minus those that ended.
    pub owned: isize,
    /// Starts at which the kernel refused the worker's own CPUs: the worker runs on any CPU of the
    /// process.
    pub affinity_errors: u64,
    /// Calls of the driver that failed or panicked.
    pub driver_errors: u64,
}

/// What a pool has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// One for each worker; those of spare workers come last.
    pub workers: Vec<WorkerStats>,
    /// Tasks submitted by threads that are no workers of the pool.
    pub submitted_outside: u64,
    /// System calls made by such threads to wake a worker for work that anyone may run.
    pub wakes_for_work_outside: u64,
    /// System calls made by such threads to wake a worker for a task that was sent to it.
    pub wakes_by_post_outside: u64,
    /// Tasks that did not fit into the shared queue and went to its list.
    pub overflowed: u64,
    /// Tasks that wait in the shared queue now.
    pub queued: usize,
    /// Workers that are inside a blocking section now.
    pub blocked: usize,
    /// How often a worker began to block and no spare worker could be started for it.
    pub spares_failed: u64,
}

impl PoolStats {
    /// Returns the number of tasks run by all workers.
    #[must_use]
    pub fn tasks(&self) -> u64 {
        self.workers.iter().map(|worker| worker.tasks).sum()
    }

    /// Returns the number of system calls made to wake workers.
    #[must_use]
    pub fn wakes(&self) -> u64 {
        let inside = self.workers.iter().map(|worker| worker.wakes_for_work + worker.wakes_by_post);
        inside.sum::<u64>() + self.wakes_for_work_outside + self.wakes_by_post_outside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wakes_are_those_of_workers_and_of_other_threads() {
        let worker = |wakes_for_work, wakes_by_post| WorkerStats {
            wakes_for_work,
            wakes_by_post,
            ..WorkerStats::default()
        };
        let stats = PoolStats {
            workers: vec![worker(1, 2), worker(4, 8)],
            wakes_for_work_outside: 16,
            wakes_by_post_outside: 32,
            ..PoolStats::default()
        };
        assert_eq!(stats.wakes(), 63);
    }
}
