//! The limit of how many fibers may exist at a time. Knows no fiber.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The limit, and the number of fibers, which is counted only if there is a limit.
#[derive(Debug)]
pub(crate) struct FiberLimit {
    most: usize,
    live: AtomicUsize,
}

impl FiberLimit {
    pub(crate) fn new(most: Option<usize>) -> Self {
        Self { most: most.unwrap_or(usize::MAX), live: AtomicUsize::new(0) }
    }

    /// Counts a new fiber.
    ///
    /// # Errors
    ///
    /// Returns the limit if it is reached.
    #[inline]
    pub(crate) fn enter(&self) -> Result<(), usize> {
        if self.most == usize::MAX { Ok(()) } else { self.enter_limited() }
    }

    #[cold]
    fn enter_limited(&self) -> Result<(), usize> {
        let one_more = |live| (live < self.most).then_some(live + 1);
        // Relaxed: the count orders no other memory.
        let entered = self.live.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        entered.map(drop).map_err(|_| self.most)
    }

    /// Counts a fiber that has ended.
    #[inline]
    pub(crate) fn leave(&self) {
        if self.most != usize::MAX {
            self.live.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
