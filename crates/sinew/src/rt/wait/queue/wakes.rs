//! Some who were claimed and are to go on, once the lock is free under which they were. Knows no queue.

use super::super::wake::Claimed;

/// How many are claimed under one hold of a lock. For the checker as few as can be: it is to see what comes in between.
const MOST: usize = if cfg!(loom) { 1 } else { 16 };

/// Those to be woken. They are when this is dropped at the latest.
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

    /// One more, if it is not full.
    pub(crate) fn add(&mut self, claimed: Claimed) {
        self.claimed[self.len] = Some(claimed);
        self.len += 1;
    }

    /// Has them go on, in the order in which they were added.
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
