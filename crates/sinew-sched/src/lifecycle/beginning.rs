//! How a worker's start hook reports to the thread that builds the pool.

use std::io;
use std::sync::mpsc::{self, Receiver, Sender};

/// Dropped once the worker has begun, or will not since its thread never came.
pub(crate) struct Beginning(Option<Sender<Failure>>);

/// The worker whose start hook failed, and why.
pub(crate) type Failure = (usize, io::Error);

impl Beginning {
    /// For workers that a pool is built with, with what the builder waits on: it ends when all copies
    /// are dropped.
    pub(crate) fn watched() -> (Self, Receiver<Failure>) {
        let (sender, receiver) = mpsc::channel();
        (Self(Some(sender)), receiver)
    }

    /// For a worker that nobody waits for.
    pub(crate) fn unwatched() -> Self {
        Self(None)
    }

    /// One more of the same.
    pub(crate) fn another(&self) -> Self {
        Self(self.0.clone())
    }

    /// The start hook has failed.
    pub(crate) fn fail(self, worker: usize, error: io::Error) {
        if let Some(sender) = self.0 {
            // If the builder is gone, it has failed because of another worker.
            let _ = sender.send((worker, error));
        }
    }
}
