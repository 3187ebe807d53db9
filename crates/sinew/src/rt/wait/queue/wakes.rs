//! Claimed waiters, to be woken once the lock under which they were claimed is free. Knows no
//! queue.

use super::super::wake::Claimed;

/// How many waiters are claimed under one hold of a lock. In models only one, so that the checker
/// sees what may happen in between.
const MOST: usize = if cfg!(loom) { 1 } else { 16 };

/// Waiters to wake. Dropping this wakes them.
pub(crate) struct Wakes {
    claimed: [Option<Claimed>; MOST],
    len: usize,
}

impl Wakes {
    pub(crate) fn new() -> Self {
        Self { claimed: [const { None }; MOST], len: 0 }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len == MOST
    }

    /// Adds a claimed waiter. The caller has checked that this is not full.
    pub(crate) fn add(&mut self, claimed: Claimed) {
        self.claimed[self.len] = Some(claimed);
        self.len += 1;
    }

    /// Wakes the waiters, in the order in which they were added.
    pub(crate) fn go(mut self) {
        self.wake();
    }

    fn wake(&mut self) {
        let len = std::mem::take(&mut self.len);
        self.claimed[..len].iter_mut().filter_map(Option::take).for_each(Claimed::go);
    }
}

impl Drop for Wakes {
    fn drop(&mut self) {
        self.wake();
    }
}
