//! Where a thread that has nothing to do rests until it is called. Knows no list of them.

use std::time::Instant;

use super::job::BlockingJob;
use crate::rt::base::sync::Lock;
use crate::rt::wait::Sleeper;

/// A thread's own.
#[derive(Debug)]
pub(super) struct Parker {
    sleeper: Sleeper,
    /// What it was called for. Put there before it is woken, by the one who has called it.
    job: Lock<Option<BlockingJob>>,
}

impl Parker {
    pub(super) fn new() -> Self {
        Self { sleeper: Sleeper::new(), job: Lock::new(None) }
    }

    /// Before anybody may call.
    pub(super) fn make(&self) {
        self.sleeper.reset();
    }

    /// Calls the thread, for a job or for none. Once, by whoever has found it resting.
    pub(super) fn call(&self, job: Option<BlockingJob>) {
        *self.job.lock() = job;
        self.sleeper.wake();
    }

    /// Rests until it is called, or this moment. Whether it was called. It sleeps at once: to look for a while first has made calls slower where
    /// processors are busy, and takes time from whoever is to call.
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

    /// What it was called for.
    pub(super) fn take(&self) -> Option<BlockingJob> {
        self.job.lock().take()
    }
}
