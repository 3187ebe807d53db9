//! The alert of the stall watcher, in one word. Knows no thread and no worker.
//!
//! The watcher sleeps while no worker works, and a worker that starts to work raises the alert.
//! Neither may miss the other:
//!
//! - A worker stores that it works, executes a fence, and then loads whether the alert is raised.
//! - The watcher lowers the alert, executes a fence, and then loads whether a worker works.
//!
//! One of the two fences comes first. If it is the worker's, the watcher sees that a worker works,
//! and raises the alert again. If it is the watcher's, the worker sees that the alert is lowered,
//! and raises it.

use crate::rt::base::sync::{AtomicBool, Ordering, fence};

/// The alert.
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

    /// Returns whether the calling worker, which has stored that it works, has to raise the alert.
    #[inline]
    pub(crate) fn is_needed(&self) -> bool {
        fence(Ordering::SeqCst);
        !self.is_raised()
    }

    /// Raises the alert. Returns whether it was lowered before.
    pub(crate) fn raise(&self) -> bool {
        !self.is_raised.swap(true, Ordering::Relaxed)
    }

    /// Lowers the alert, unless a worker works after all. Called by the watcher.
    pub(crate) fn lower(&self, does_any_work: impl FnOnce() -> bool) {
        self.is_raised.store(false, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if does_any_work() {
            self.is_raised.store(true, Ordering::Relaxed);
        }
    }
}
