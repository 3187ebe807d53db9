//! The waiters for readiness: they wait until something can be sent or received, but do not do it.
//! Does not know whether they want to send or to receive.
//!
//! No wake-up is lost. A thread that makes a channel ready does so under a lock of the channel, and
//! looks for watchers afterwards. A watcher announces itself first, and then looks at the channel
//! under that lock. So one of the two sees the other.
//!
//! # Safety
//!
//! Trusted with nothing: it passes on what its callers promise.
#![expect(unsafe_code, reason = "nodes are lent to a queue")]

use crate::rt::{Entered, Locked, Place, Queue, Stay, Waiter};

/// The queue of watchers.
pub(super) struct Watchers {
    queue: Queue<(), ()>,
}

impl Watchers {
    pub(super) fn new() -> Self {
        Self { queue: Queue::new(()) }
    }

    /// Wakes the watchers, since something may have become ready. The caller holds no lock of the
    /// channel.
    #[inline]
    pub(super) fn tell(&self) {
        if !self.queue.seems_empty() {
            self.queue.wake_all(|()| ());
        }
    }

    /// Enters the queue, unless `is_ready` returns true. `is_ready` takes the locks that it needs.
    ///
    /// # Safety
    ///
    /// The contract of [`Stay::enter`] applies.
    pub(super) unsafe fn enter(
        &self,
        stay: &Stay<()>,
        waiter: Waiter,
        is_ready: impl FnOnce() -> bool,
    ) -> Entered {
        let place = |locked: &mut Locked<'_, (), ()>, (): &()| {
            locked.announce();
            (!is_ready()).then_some(Place::Back)
        };
        // SAFETY: the caller's promise.
        unsafe { stay.enter(&self.queue, waiter, place, |_, ()| ()) }
    }

    /// Leaves the queue.
    ///
    /// # Safety
    ///
    /// The contract of [`Stay::leave`] applies.
    pub(super) unsafe fn leave(&self, stay: &Stay<()>) {
        // SAFETY: the caller's promise.
        unsafe { stay.leave(&self.queue) };
    }
}
