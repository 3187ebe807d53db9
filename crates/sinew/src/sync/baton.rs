//! A signal that is given once, and waited for.

use crate::limited::limited_waits;
use crate::raw::{RawEvent, Reset};
use crate::rt::{GaveUp, Limit, WaitKind, impl_debug, impl_unwind_safe};

/// A signal from one to another, fibers and threads alike: it is posted, and whoever waits for it goes on.
///
/// - Any number of fibers and threads may wait; a post wakes all of them.
/// - It stays posted until it is [`reset`](Self::reset). Meanwhile a wait returns at once, after
///   one load, and another post does nothing.
/// - It may be reset at any time: waiters that a post has woken return all the same.
///
/// For a signal that one waiter consumes, or to wait for several at once, use an
/// [`Event`](super::Event).
///
/// What was done before it is posted is seen by whoever goes on.
///
/// ```
/// use sinew::fiber;
/// use sinew::sync::Baton;
///
/// static BATON: Baton = Baton::new();
/// let runner = fiber::spawn(|| BATON.wait());
/// BATON.post();
/// runner.join().unwrap();
/// ```
pub struct Baton {
    raw: RawEvent,
}

// No code of the user's runs while it is changed.
impl_unwind_safe!(Baton);

impl Baton {
    /// One that is not posted.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { raw: RawEvent::new(Reset::Manual) }
    }

    /// Has all go on who wait, and all who come from now on. Never waits.
    pub fn post(&self) {
        self.raw.set();
    }

    /// As if it had never been posted, for whoever comes from now on.
    pub fn reset(&self) {
        self.raw.reset();
    }

    /// Whether it is posted.
    #[inline]
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.raw.is_set()
    }

    /// Whether it is posted: a wait that does not wait.
    #[inline]
    #[must_use]
    pub fn try_wait(&self) -> bool {
        self.is_ready()
    }

    limited_waits! {
        /// Waits until it is posted.
        wait, wait_timeout, wait_until, wait_cancellable by wait_within
    }

    fn wait_within(&self, limit: Limit) -> Result<(), GaveUp> {
        self.raw.wait(WaitKind::Baton, limit)
    }
}

impl Default for Baton {
    fn default() -> Self {
        Self::new()
    }
}

impl_debug!(Baton, |baton| { is_ready: baton.is_ready() });
