//! Whether the watcher is on the alert, in one word. Knows no thread and no worker.
//!
//! The watcher sleeps while no worker works, and a worker that goes to work raises the alert.
//! Neither may miss the other:
//!
//! - A worker stores that it works, has a fence, and then reads whether the alert is raised.
//! - The watcher lowers the alert, has a fence, and then reads whether a worker works.
//!
//! One of the two fences comes first. If the worker's does, the watcher reads that it works and
//! raises the alert again. If the watcher's does, the worker reads that the alert is lowered and
//! raises it.

use crate::rt::base::sync::{AtomicBool, Ordering, fence};

/// The word.
#[derive(Debug)]
pub(crate) struct Alert {
    is_raised: AtomicBool,
}

impl Alert {
    /// An alert that is not raised.
    pub(crate) fn new() -> Self {
        Self { is_raised: AtomicBool::new(false) }
    }

    pub(crate) fn is_raised(&self) -> bool {
        self.is_raised.load(Ordering::Relaxed)
    }

    /// Returns whether a worker has to raise the alert, which has stored that it works.
    #[inline]
    pub(crate) fn is_needed(&self) -> bool {
        fence(Ordering::SeqCst);
        !self.is_raised()
    }

    /// Raises the alert. Returns whether it was lowered before.
    pub(crate) fn raise(&self) -> bool {
        !self.is_raised.swap(true, Ordering::Relaxed)
    }

    /// Lowers the alert, unless a worker works after all. For the watcher.
    pub(crate) fn lower(&self, does_any_work: impl FnOnce() -> bool) {
        self.is_raised.store(false, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if does_any_work() {
            self.is_raised.store(true, Ordering::Relaxed);
        }
    }
}
