//! How a worker's start hook reports to the thread that builds the pool.

use std::io;
use std::sync::mpsc::{self, Receiver, Sender};

/// Dropped when the worker has begun, or cannot begin because its thread did not start.
pub(crate) struct Beginning(Option<Sender<Failure>>);

/// The worker whose start hook failed, and why.
pub(crate) type Failure = (usize, io::Error);

impl Beginning {
    /// For the workers that a pool is built with. The builder waits on the receiver, which ends
    /// when all copies are dropped.
    pub(crate) fn watched() -> (Self, Receiver<Failure>) {
        let (sender, receiver) = mpsc::channel();
        (Self(Some(sender)), receiver)
    }

    /// For a worker that the builder does not wait for.
    pub(crate) fn unwatched() -> Self {
        Self(None)
    }

    /// Returns one more for the same receiver.
    pub(crate) fn another(&self) -> Self {
        Self(self.0.clone())
    }

    /// Reports that the start hook has failed.
    pub(crate) fn fail(self, worker: usize, error: io::Error) {
        if let Some(sender) = self.0 {
            // If the receiver is gone, the build has failed because of another worker.
            let _ = sender.send((worker, error));
        }
    }
}
