//! Parks an idle thread until it is called. Knows no list of threads.

use std::time::Instant;

use super::job::BlockingJob;
use crate::rt::base::sync::Lock;
use crate::rt::wait::Sleeper;

/// The parking place of one thread.
#[derive(Debug)]
pub(super) struct Parker {
    sleeper: Sleeper,
    /// The job that the thread is called for. Stored by the caller before it wakes the thread.
    job: Lock<Option<BlockingJob>>,
}

impl Parker {
    pub(super) fn new() -> Self {
        Self { sleeper: Sleeper::new(), job: Lock::new(None) }
    }

    /// Resets the parker, before any thread may call.
    pub(super) fn make(&self) {
        self.sleeper.reset();
    }

    /// Wakes the thread, with a job or without. Called once, by the thread that has taken the
    /// parker out of the list.
    pub(super) fn call(&self, job: Option<BlockingJob>) {
        *self.job.lock() = job;
        self.sleeper.wake();
    }

    /// Parks until the thread is called, or until this moment. Returns whether it was called. The
    /// thread sleeps at once: to spin first has made calls slower on busy processors, and takes
    /// time from the caller.
    pub(super) fn rest(&self, until: Option<Instant>) -> bool {
        while !self.sleeper.is_woken() {
            let left = Sleeper::left(until);
            if left.is_some_and(|left| left.is_zero()) {
                return false;
            }
            self.sleeper.sleep(left);
        }
        true
    }

    /// Takes the job that the thread was called for.
    pub(super) fn take(&self) -> Option<BlockingJob> {
        self.job.lock().take()
    }
}
