//! Whether an idle worker watches over the drivers of busy ones. Knows no driver.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::sync::{Fence, full_fence};

/// At most one idle worker watches, for a moment at a time.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// A driver has been seen that concerns others: before that, nobody need look for one.
    is_wanted: AtomicBool,
    is_kept: AtomicBool,
}

impl Watch {
    /// There is a driver that concerns others.
    pub(crate) fn want(&self) {
        if !self.is_wanted.load(Ordering::Relaxed) {
            self.is_wanted.store(true, Ordering::Relaxed);
        }
    }

    /// Whether somebody may be missing: drivers may need watching, and nobody is at it. For a worker that goes to work: one
    /// that stopped watching just before goes to work too, and of the two at least one sees the other.
    #[inline]
    pub(crate) fn may_lack(&self) -> bool {
        self.is_wanted.load(Ordering::Relaxed) && {
            full_fence(Fence::Announce);
            !self.is_kept.load(Ordering::Relaxed)
        }
    }

    /// Watches while `body` runs, if nobody else does; `body` is told which.
    pub(crate) fn keep<R>(&self, body: impl FnOnce(bool) -> R) -> R {
        let watches = !self.is_kept.swap(true, Ordering::Relaxed);
        let result = body(watches);
        if watches {
            self.is_kept.store(false, Ordering::Relaxed);
        }
        result
    }
}
