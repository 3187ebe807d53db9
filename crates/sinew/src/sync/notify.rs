//! Notifications without a value.

use crate::limited::limited_waits;
use crate::raw::{RawEvent, Reset};
use crate::rt::{GaveUp, Limit, WaitKind, impl_debug, impl_unwind_safe};

/// Notifies one waiter or all waiters, for fibers and threads.
///
/// It has the names of tokio's `Notify`, except for [`wait`](Self::wait), which is
/// `notified().await` there.
///
/// - A [`notify_one`](Self::notify_one) is not lost: without a waiter, the next wait returns at
///   once. Only one such notification is stored, so a woken waiter must look for all work that
///   there is.
/// - [`notify_waiters`](Self::notify_waiters) wakes only the current waiters. A caller that has
///   checked for work and does not wait yet misses it. Use a [`Condvar`](super::Condvar) for that,
///   or a manual-reset [`Event`](super::Event).
///
/// Waiters are notified in the order in which they came, except by
/// [`notify_last`](Self::notify_last). A waiter that is woken sees all that happened before the
/// notification.
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

// No user code runs while it is changed, so a panic cannot leave it half changed.
impl_unwind_safe!(Notify);

impl Notify {
    /// Creates a `Notify` without a stored notification.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { raw: RawEvent::new(Reset::Auto) }
    }

    /// Wakes the waiter that has waited longest. If there is none, the next wait returns at once.
    ///
    /// ```
    /// use sinew::sync::Notify;
    ///
    /// let notify = Notify::new();
    /// notify.notify_one();
    /// notify.notify_one();
    /// // Only one notification is stored.
    /// assert!(notify.try_wait());
    /// assert!(!notify.try_wait());
    /// ```
    pub fn notify_one(&self) {
        self.raw.set();
    }

    /// Wakes the waiter that came last. If there is none, the next wait returns at once. Otherwise
    /// as [`notify_one`](Self::notify_one), which wakes the waiter that has waited longest.
    ///
    /// The waiter that came last has probably run most recently, so its data may still be in a
    /// cache. The other waiters may starve.
    ///
    /// ```
    /// use sinew::fiber;
    /// use sinew::sync::Notify;
    ///
    /// static IDLE: Notify = Notify::new();
    ///
    /// // There is no waiter, so the notification is stored.
    /// IDLE.notify_last();
    /// assert!(IDLE.try_wait());
    /// let waits = fiber::spawn(|| IDLE.wait());
    /// IDLE.notify_last();
    /// waits.join().unwrap();
    /// ```
    pub fn notify_last(&self) {
        self.raw.set_for_last();
    }

    /// Wakes all current waiters. If there is none, no notification is stored.
    pub fn notify_waiters(&self) {
        self.raw.wake_all();
    }

    /// Wakes all current waiters, as [`notify_waiters`](Self::notify_waiters) does.
    /// [`Condvar`](super::Condvar) uses this name.
    pub fn notify_all(&self) {
        self.notify_waiters();
    }

    /// Takes the stored notification, and returns whether there was one. Never waits.
    #[inline]
    #[must_use = "a notification may have been taken"]
    pub fn try_wait(&self) -> bool {
        self.raw.try_wait()
    }

    limited_waits! {
        /// Waits for a notification. There are no spurious wake-ups.
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
