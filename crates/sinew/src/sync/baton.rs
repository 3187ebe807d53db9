//! A signal that is posted once and waited for.

use crate::limited::limited_waits;
use crate::raw::{RawEvent, Reset};
use crate::rt::{GaveUp, Limit, WaitKind, impl_debug, impl_unwind_safe};

/// A signal between fibers and threads: after it is posted, all waiters return.
///
/// - Any number of fibers and threads may wait; a post wakes all of them.
/// - It stays posted until it is [`reset`](Self::reset). Until then, a wait returns at once, after
///   one load, and another post has no effect.
/// - It may be reset at any time: waiters that a post has woken return nevertheless.
///
/// For a signal that one waiter consumes, or to wait for several at once, use an
/// [`Event`](super::Event).
///
/// A waiter that returns sees all that happened before the post.
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

// No user code runs while it is changed, so a panic cannot leave it half changed.
impl_unwind_safe!(Baton);

impl Baton {
    /// Creates a baton that is not posted.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { raw: RawEvent::new(Reset::Manual) }
    }

    /// Posts the baton: wakes all waiters, and lets later waits return at once. Never waits.
    pub fn post(&self) {
        self.raw.set();
    }

    /// Resets the baton: later waits wait for the next post.
    pub fn reset(&self) {
        self.raw.reset();
    }

    /// Returns whether the baton is posted.
    #[inline]
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.raw.is_set()
    }

    /// Returns whether the baton is posted, as [`is_ready`](Self::is_ready) does. Never waits.
    #[inline]
    #[must_use]
    pub fn try_wait(&self) -> bool {
        self.is_ready()
    }

    limited_waits! {
        /// Waits until the baton is posted.
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
