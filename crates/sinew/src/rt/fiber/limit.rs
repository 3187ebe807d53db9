//! How many fibers there may be at a time. Knows no fiber.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The limit, and how many there are; those are counted only if there is a limit.
#[derive(Debug)]
pub(crate) struct FiberLimit {
    most: usize,
    live: AtomicUsize,
}

impl FiberLimit {
    pub(crate) fn new(most: Option<usize>) -> Self {
        Self { most: most.unwrap_or(usize::MAX), live: AtomicUsize::new(0) }
    }

    /// One more.
    ///
    /// # Errors
    ///
    /// If there are as many as may be, with that number.
    #[inline]
    pub(crate) fn enter(&self) -> Result<(), usize> {
        if self.most == usize::MAX { Ok(()) } else { self.enter_limited() }
    }

    #[cold]
    fn enter_limited(&self) -> Result<(), usize> {
        let one_more = |live| (live < self.most).then_some(live + 1);
        // Relaxed: it is a number, and nothing is read because of it.
        let entered = self.live.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more);
        entered.map(drop).map_err(|_| self.most)
    }

    /// One less.
    #[inline]
    pub(crate) fn leave(&self) {
        if self.most != usize::MAX {
            self.live.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
