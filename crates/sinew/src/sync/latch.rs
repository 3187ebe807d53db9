//! A counter that goes down to zero once, and wakes its waiters then.

use crate::limited::always;
use crate::limited::limited_waits;
use crate::raw::RawCount;
use crate::rt::{self, GaveUp, Limit, WaitKind, impl_debug, impl_unwind_safe};

/// A counter that goes down to zero once, for fibers and threads that wait for it.
///
/// It is C++'s `std::latch`, with waits that can have a limit. A caller that counts down need not
/// wait, and a waiter need not count down. An open latch stays open, and a wait for it costs one
/// load. For a counter that can go up again, use a [`WaitGroup`](super::WaitGroup).
///
/// A waiter that returns sees all that happened before each count down.
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

// No user code runs while it is changed, so a panic cannot leave it half changed.
impl_unwind_safe!(Latch);

impl Latch {
    /// Creates a latch that opens after it was counted down `count` times. With 0, it is open.
    #[inline]
    #[must_use]
    pub const fn new(count: usize) -> Self {
        Self { count: RawCount::new(count) }
    }

    /// Counts down by one. Never waits.
    ///
    /// # Panics
    ///
    /// Panics if the latch is already open.
    #[inline]
    pub fn count_down(&self) {
        self.count_down_by(1);
    }

    /// Counts down by `many`. Never waits.
    ///
    /// # Panics
    ///
    /// Panics if the count is less than `many`. The count does not change then.
    #[inline]
    pub fn count_down_by(&self, many: usize) {
        assert!(self.count.sub(many).is_ok(), "a latch is counted down by more than is left of its count");
    }

    /// Returns whether the latch is open. Never waits.
    #[inline]
    #[must_use]
    pub fn try_wait(&self) -> bool {
        self.count.is_zero()
    }

    limited_waits! {
        /// Waits until the latch is open.
        wait, wait_timeout, wait_until, wait_cancellable by wait_within
    }

    fn wait_within(&self, limit: Limit) -> Result<(), GaveUp> {
        self.count.wait(WaitKind::Count, limit)
    }

    /// Counts down by one, and waits until the latch is open.
    ///
    /// ```
    /// use sinew::fiber;
    /// use sinew::sync::Latch;
    ///
    /// static LATCH: Latch = Latch::new(2);
    ///
    /// let other = fiber::spawn(|| LATCH.arrive_and_wait());
    /// LATCH.arrive_and_wait();
    /// assert!(LATCH.try_wait());
    /// other.join().unwrap();
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the latch is already open, or the caller is inside
    /// [`no_suspend`](crate::fiber::no_suspend). The count does not change then.
    pub fn arrive_and_wait(&self) {
        rt::check_may_wait();
        self.count_down();
        always(self.count.wait(WaitKind::Count, Limit::NEVER.later()));
    }
}

impl_debug!(Latch, |latch| { left: latch.count.left() });
