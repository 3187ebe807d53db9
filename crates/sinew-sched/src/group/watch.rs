//! Which idle worker watches over the drivers of busy ones. Knows no driver.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::sync::{Fence, full_fence};

/// The watch of a group. At most one idle worker keeps it, for a moment at a time.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Whether a driver that concerns others was ever seen. Before that, no worker needs to watch.
    is_wanted: AtomicBool,
    is_kept: AtomicBool,
}

impl Watch {
    /// Notes that a driver concerns others.
    pub(crate) fn want(&self) {
        if !self.is_wanted.load(Ordering::Relaxed) {
            self.is_wanted.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether drivers may need watching and no worker keeps the watch. For a worker that
    /// goes to work: a worker that stopped watching just before goes to work too, and at least one
    /// of the two sees the other.
    #[inline]
    pub(crate) fn may_lack(&self) -> bool {
        self.is_wanted.load(Ordering::Relaxed) && {
            full_fence(Fence::Announce);
            !self.is_kept.load(Ordering::Relaxed)
        }
    }

    /// Keeps the watch while `body` runs, if no other worker does; `body` gets whether it is kept
    /// here.
    pub(crate) fn keep<R>(&self, body: impl FnOnce(bool) -> R) -> R {
        let watches = !self.is_kept.swap(true, Ordering::Relaxed);
        let result = body(watches);
        if watches {
            self.is_kept.store(false, Ordering::Relaxed);
        }
        result
    }
}
