//! Counters: written by one thread each, read by anyone as a snapshot.

use crate::sync::{AtomicU64, Ordering};

/// A number that one thread counts up, and others may read at any time.
#[derive(Debug)]
pub(crate) struct Count(AtomicU64);

impl Default for Count {
    fn default() -> Self {
        Self(AtomicU64::new(0))
    }
}

impl Count {
    /// For the one thread that counts: a load and a store, no atomic addition.
    #[inline]
    pub(crate) fn add(&self, more: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
    }

    /// For any thread.
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
    /// There is no thread.
    #[default]
    Absent,
    /// Runs tasks.
    Running,
    /// Looks for tasks.
    Searching,
    /// Sleeps in its driver, or is about to.
    Sleeping,
    /// Is inside a blocking section.
    Blocked,
    /// Discards what is left, and ends.
    Stopping,
}

impl WorkerState {
    const ALL: [Self; 6] =
        [Self::Absent, Self::Running, Self::Searching, Self::Sleeping, Self::Blocked, Self::Stopping];
}

/// What one worker counts.
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
    /// Tasks begun here, less those that ended here. Wraps below zero as a signed number would.
    pub(crate) owned: Count,
    /// The same of those that may end elsewhere, so that only the sum over all workers means something.
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
    /// Its number.
    pub worker: usize,
    /// What it is doing.
    pub state: WorkerState,
    /// Tasks run.
    pub tasks: u64,
    /// Tasks and hooks that panicked.
    pub panics: u64,
    /// Attempts to take a task from another worker that has one.
    pub steals_tried: u64,
    /// Those that succeeded.
    pub steals: u64,
    /// Tasks taken from other groups.
    pub steals_remote: u64,
    /// Stretches of searching, each up to some tens of microseconds.
    pub searches: u64,
    /// Short sleeps of a searcher that spares another worker's newest task.
    pub naps: u64,
    /// Sleeps in the driver.
    pub sleeps: u64,
    /// System calls made to wake a worker for work that anyone may run.
    pub wakes_for_work: u64,
    /// System calls made to wake a worker that was sent a task.
    pub wakes_by_post: u64,
    /// Looks into the worker's own driver.
    pub looks: u64,
    /// Looks into another worker's driver.
    pub looks_for_others: u64,
    /// Tasks that have begun and cannot move, less those that ended.
    pub owned: isize,
    /// Starts on CPUs of its own that the kernel refused: it runs where the process may.
    pub affinity_errors: u64,
    /// Calls of the driver that failed or panicked.
    pub driver_errors: u64,
}

/// What a pool has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// By worker; spare ones come after the others.
    pub workers: Vec<WorkerStats>,
    /// Tasks submitted by threads that are no workers of the pool.
    pub submitted_outside: u64,
    /// System calls that such threads made to wake a worker for work that anyone may run.
    pub wakes_for_work_outside: u64,
    /// System calls that such threads made to wake a worker that was sent a task.
    pub wakes_by_post_outside: u64,
    /// Tasks that did not fit into the shared queue and went to its list.
    pub overflowed: u64,
    /// Tasks that wait in the shared queue now.
    pub queued: usize,
    /// Workers that are inside a blocking section now.
    pub blocked: usize,
    /// How often a spare worker was wanted for one and not to be had.
    pub spares_failed: u64,
}

impl PoolStats {
    /// Tasks run by all workers.
    #[must_use]
    pub fn tasks(&self) -> u64 {
        self.workers.iter().map(|worker| worker.tasks).sum()
    }

    /// System calls made to wake workers.
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
