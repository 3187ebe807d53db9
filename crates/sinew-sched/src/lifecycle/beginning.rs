//! How a worker's start hook reports to the thread that builds the pool.
//!
//! Not by a channel of std: that would be a large part of the code of this crate, which uses none
//! elsewhere.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use crate::sync::ignore_poison;

/// Dropped when the worker has begun, or cannot begin because its thread did not start.
pub(crate) struct Beginning(Option<Arc<Report>>);

/// The worker whose start hook failed, and why.
pub(crate) type Failure = (usize, io::Error);

/// What the builder waits on.
pub(crate) struct Failures(Arc<Report>);

/// What workers and the builder share.
struct Report {
    state: Mutex<ReportState>,
    changed: Condvar,
}

struct ReportState {
    first: Option<Failure>,
    /// The number of copies of [`Beginning`].
    copies: usize,
}

impl Report {
    fn lock(&self) -> MutexGuard<'_, ReportState> {
        ignore_poison(self.state.lock())
    }
}

impl Failures {
    /// Waits for the first failure. Returns `None` when all copies are dropped and none has failed.
    pub(crate) fn first(self) -> Option<Failure> {
        let mut state = self.0.lock();
        while state.first.is_none() && state.copies > 0 {
            state = ignore_poison(self.0.changed.wait(state));
        }
        state.first.take()
    }
}

impl Beginning {
    /// For the workers that a pool is built with. The builder waits on the second value, until all
    /// copies of the first are dropped.
    pub(crate) fn watched() -> (Self, Failures) {
        let state = Mutex::new(ReportState { first: None, copies: 1 });
        let report = Arc::new(Report { state, changed: Condvar::new() });
        (Self(Some(report.clone())), Failures(report))
    }

    /// For a worker that the builder does not wait for.
    pub(crate) fn unwatched() -> Self {
        Self(None)
    }

    /// Returns one more for the same builder.
    pub(crate) fn another(&self) -> Self {
        if let Some(report) = &self.0 {
            report.lock().copies += 1;
        }
        Self(self.0.clone())
    }

    /// Reports that the start hook has failed.
    pub(crate) fn fail(self, worker: usize, error: io::Error) {
        if let Some(report) = &self.0 {
            // The builder returns the first error alone.
            report.lock().first.get_or_insert((worker, error));
        }
    }
}

impl Drop for Beginning {
    fn drop(&mut self) {
        if let Some(report) = &self.0 {
            report.lock().copies -= 1;
            report.changed.notify_one();
        }
    }
}
