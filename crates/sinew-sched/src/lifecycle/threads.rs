//! The number of threads, and waiting for their end. Knows nothing of what they do.

use std::time::Duration;

use crate::sync::{Condvar, Lock, ignore_poison};

/// How often to check again for threads that are on their way out.
const ONE_LOOK: Duration = Duration::from_millis(5);

/// The threads that run.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    running: Lock<usize>,
    changed: Condvar,
}

impl Threads {
    pub(crate) fn begin(&self) {
        *self.running.lock() += 1;
    }

    pub(crate) fn end(&self) {
        *self.running.lock() -= 1;
        self.changed.notify_all();
    }

    /// Waits until no thread runs any more, or until `are_ending` returns false.
    pub(crate) fn wait(&self, mut are_ending: impl FnMut() -> bool) {
        let mut running = self.running.lock();
        while *running > 0 && are_ending() {
            (running, _) = ignore_poison(self.changed.wait_timeout(running, ONE_LOOK));
        }
    }
}
