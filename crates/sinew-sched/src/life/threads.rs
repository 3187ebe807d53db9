//! How many threads there are, and waiting for them. Knows nothing of what they do.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often to look again for threads that are on their way out.
const ONE_LOOK: Duration = Duration::from_millis(5);

/// The threads that run.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    running: Mutex<usize>,
    changed: Condvar,
}

impl Threads {
    pub(crate) fn begin(&self) {
        *self.lock() += 1;
    }

    pub(crate) fn end(&self) {
        *self.lock() -= 1;
        self.changed.notify_all();
    }

    /// Waits until no thread runs any more, for as long as they `are_ending`.
    pub(crate) fn wait(&self, mut are_ending: impl FnMut() -> bool) {
        let mut running = self.lock();
        while *running > 0 && are_ending() {
            let waited = self.changed.wait_timeout(running, ONE_LOOK);
            (running, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
