//! Those who wait until something can be sent or received, and leave it at that. Knows neither end.
//!
//! Whoever changes what they wait for does so under a lock of the channel, and looks here afterwards. Whoever comes here says so first, and
//! then looks at the channel, under that lock. So one of the two sees the other.
//!
//! # Safety
//!
//! Trusted with nothing: it passes on what its callers promise.
#![expect(unsafe_code, reason = "nodes are lent to a queue")]

use crate::rt::{Entered, Locked, Place, Queue, Stay, Waiter};

/// Those who watch.
pub(super) struct Watchers {
    queue: Queue<(), ()>,
}

impl Watchers {
    pub(super) fn new() -> Self {
        Self { queue: Queue::new(()) }
    }

    /// Something may have become ready. Not under a lock of the channel.
    #[inline]
    pub(super) fn tell(&self) {
        if !self.queue.seems_empty() {
            self.queue.wake_all(|()| ());
        }
    }

    /// Waits here, unless it `is_ready`, which takes the locks that it needs.
    ///
    /// # Safety
    ///
    /// As for [`Stay::enter`].
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

    /// # Safety
    ///
    /// As for [`Stay::leave`].
    pub(super) unsafe fn leave(&self, stay: &Stay<()>) {
        // SAFETY: the caller's promise.
        unsafe { stay.leave(&self.queue) };
    }
}
