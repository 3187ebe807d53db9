//! Notifications without a value.

use crate::limited::limited_waits;
use crate::raw::{RawEvent, Reset};
use crate::rt::{GaveUp, Limit, WaitKind, impl_debug, impl_unwind_safe};

/// Tells one who waits, or all of them, that there is something to do, fibers and threads alike.
///
/// It has the names of tokio's, but for [`wait`](Self::wait), which is `notified().await` there.
///
/// - [`notify_one`](Self::notify_one) is not lost: if nobody waits, the next one to come goes on at once. But one such notification is kept, not
///   several: whoever goes on looks for all there is to do.
/// - [`notify_waiters`](Self::notify_waiters) is for those who wait now, and nobody else. Who has looked whether there is something to do, and
///   does not wait yet, misses it: use a [`Condvar`](super::Condvar) there, or an [`Event`](super::Event) that is reset by hand.
///
/// Waiters are told in the order in which they came, but for [`notify_last`](Self::notify_last).
/// What was done before a notification is seen by the waiter that it wakes.
///
/// ```
/// use sinew::fiber;
/// use sinew::sync::{Mutex, Notify};
///
/// static WORK: Mutex<Vec<u32>> = Mutex::new(Vec::new());
/// static IS_THERE: Notify = Notify::new();
///
/// let worker = fiber::spawn(|| loop {
///     if let Some(work) = WORK.lock().unwrap().pop() {
///         break work;
///     }
///     IS_THERE.wait();
/// });
/// WORK.lock().unwrap().push(5);
/// IS_THERE.notify_one();
/// assert_eq!(worker.join().unwrap(), 5);
/// ```
pub struct Notify {
    raw: RawEvent,
}

// No code of the user's runs while it is changed.
impl_unwind_safe!(Notify);

impl Notify {
    /// One without a notification.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { raw: RawEvent::new(Reset::Auto) }
    }

    /// Has the one go on who has waited longest; if nobody waits, the next one to come.
    pub fn notify_one(&self) {
        self.raw.set();
    }

    /// Wakes the waiter that came last; if nobody waits, the next one to come goes on at once.
    /// Otherwise as [`notify_one`](Self::notify_one), which wakes the one that has waited longest.
    ///
    /// The one that came last has probably run most recently, so its data may still be in a cache.
    /// The others may starve.
    ///
    /// ```
    /// use sinew::fiber;
    /// use sinew::sync::Notify;
    ///
    /// static IDLE: Notify = Notify::new();
    ///
    /// // Nobody waits: it is kept.
    /// IDLE.notify_last();
    /// assert!(IDLE.try_wait());
    /// let waits = fiber::spawn(|| IDLE.wait());
    /// IDLE.notify_last();
    /// waits.join().unwrap();
    /// ```
    pub fn notify_last(&self) {
        self.raw.set_for_last();
    }

    /// Has all go on who wait now. If nobody does, nothing is kept.
    pub fn notify_waiters(&self) {
        self.raw.wake_all();
    }

    /// The name that [`Condvar`](super::Condvar) has for [`notify_waiters`](Self::notify_waiters).
    pub fn notify_all(&self) {
        self.notify_waiters();
    }

    /// Takes the notification that was kept, if there is one.
    #[inline]
    #[must_use = "a notification may have been taken"]
    pub fn try_wait(&self) -> bool {
        self.raw.try_wait()
    }

    limited_waits! {
        /// Waits for a notification. Never returns without one.
        wait, wait_timeout, wait_until, wait_cancellable by wait_within, must_use "a notification may have been taken"
    }

    fn wait_within(&self, limit: Limit) -> Result<(), GaveUp> {
        self.raw.wait(WaitKind::Notify, limit)
    }
}

impl Default for Notify {
    fn default() -> Self {
        Self::new()
    }
}

impl_debug!(Notify, |notify| { is_notified: notify.raw.is_set() });
