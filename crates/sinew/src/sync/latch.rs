//! A count that goes down once, and lets all go on who wait for its end.

use crate::limited::always;
use crate::limited::limited_waits;
use crate::raw::RawCount;
use crate::rt::{self, GaveUp, Limit, WaitKind, impl_debug, impl_unwind_safe};

/// A count that goes down to zero, once, and those who wait for that, fibers and threads alike.
///
/// It is C++'s `std::latch`, with waits that end. Who counts down need not wait, and who waits need not count down. Once it is open it stays
/// so, and a wait is a look at one word. What goes on and up again is a [`WaitGroup`](super::WaitGroup).
///
/// What was done before it was counted down is seen by whoever has waited.
///
/// ```
/// use sinew::fiber;
/// use sinew::sync::Latch;
/// use std::sync::Arc;
///
/// let latch = Arc::new(Latch::new(3));
/// for _ in 0..3 {
///     let latch = latch.clone();
///     fiber::spawn(move || latch.count_down());
/// }
/// latch.wait();
/// assert!(latch.try_wait());
/// ```
pub struct Latch {
    count: RawCount,
}

// No code of the user's runs while it is changed.
impl_unwind_safe!(Latch);

impl Latch {
    /// One that is open when it was counted down so many times; at once, if that is zero.
    #[inline]
    #[must_use]
    pub const fn new(count: usize) -> Self {
        Self { count: RawCount::new(count) }
    }

    /// Counts down by one. Never waits.
    ///
    /// # Panics
    ///
    /// If it is open already.
    #[inline]
    pub fn count_down(&self) {
        self.count_down_by(1);
    }

    /// Counts down by so many. Never waits.
    ///
    /// # Panics
    ///
    /// If fewer are left. Nothing has changed then.
    #[inline]
    pub fn count_down_by(&self, many: usize) {
        assert!(self.count.sub(many).is_ok(), "a latch is counted down by more than is left of its count");
    }

    /// Whether it is open.
    #[inline]
    #[must_use]
    pub fn try_wait(&self) -> bool {
        self.count.is_zero()
    }

    limited_waits! {
        /// Waits until it is open.
        wait, wait_timeout, wait_until, wait_cancellable by wait_within
    }

    fn wait_within(&self, limit: Limit) -> Result<(), GaveUp> {
        self.count.wait(WaitKind::Count, limit)
    }

    /// Counts down by one, and waits until it is open.
    ///
    /// # Panics
    ///
    /// If it is open already, or the caller is inside [`no_suspend`](crate::fiber::no_suspend). Nothing has changed then.
    pub fn arrive_and_wait(&self) {
        rt::check_may_wait();
        self.count_down();
        always(self.count.wait(WaitKind::Count, Limit::NEVER.later()));
    }
}

impl_debug!(Latch, |latch| { left: latch.count.left() });
