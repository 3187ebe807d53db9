//! A flag to wait for, alone or with others.

use std::time::{Duration, Instant};

use crate::fiber::Stopped;
use crate::limited::limited_waits;
use crate::limited::{always, unless_stopped};
use crate::raw::{self, RawEvent, Reset};
use crate::rt::{GaveUp, Limit, WaitKind, impl_debug, impl_unwind_safe};

/// A flag that fibers and threads set and wait for. Any thread may set it, and setting never waits.
///
/// There are two kinds:
///
/// - [`Event::auto`]: the event resets itself when a waiter returns. Each `set` lets exactly one
///   waiter return: the longest-waiting one or, if there is none, the next caller that waits.
///   Setting an event that is set has no effect.
/// - [`Event::manual`]: once set, the event lets all waiters return, until it is
///   [`reset`](Self::reset). A wait for an event that is set costs one load.
///
/// [`wait_any`](Self::wait_any) waits for several events of either kind.
///
/// A waiter that returns sees all that happened before the event was set.
///
/// ```
/// use sinew::fiber;
/// use sinew::sync::Event;
/// use std::sync::Arc;
///
/// let events = Arc::new([Event::manual(), Event::auto()]);
/// let copy = events.clone();
/// fiber::spawn(move || copy[1].set());
/// assert_eq!(Event::wait_any(&[&events[0], &events[1]]), 1);
/// assert!(!events[1].is_set());
/// ```
pub struct Event {
    raw: RawEvent,
}

// No user code runs while it is changed, so a panic cannot leave it half changed.
impl_unwind_safe!(Event);

impl Event {
    /// Creates an event that is not set, and that each waiter resets when it returns.
    ///
    /// ```
    /// use sinew::sync::Event;
    ///
    /// let event = Event::auto();
    /// event.set();
    /// assert!(event.try_wait());
    /// assert!(!event.try_wait());
    /// ```
    #[inline]
    #[must_use]
    pub const fn auto() -> Self {
        Self { raw: RawEvent::new(Reset::Auto) }
    }

    /// Creates an event that is not set. Once set, it stays set until it is reset.
    ///
    /// ```
    /// use sinew::sync::Event;
    ///
    /// let event = Event::manual();
    /// event.set();
    /// assert!(event.try_wait());
    /// assert!(event.try_wait());
    /// event.reset();
    /// assert!(!event.try_wait());
    /// ```
    #[inline]
    #[must_use]
    pub const fn manual() -> Self {
        Self { raw: RawEvent::new(Reset::Manual) }
    }

    /// Sets the event: lets one waiter return, or all of them, according to its kind.
    pub fn set(&self) {
        self.raw.set();
    }

    /// Resets the event. Waiters that a `set` has already woken return nevertheless.
    pub fn reset(&self) {
        self.raw.reset();
    }

    /// Returns whether the event is set. Does not reset it.
    #[inline]
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.raw.is_set()
    }

    /// Returns whether the event is set, and resets an auto-reset event. Never waits.
    #[inline]
    #[must_use = "an event that resets itself may have been taken"]
    pub fn try_wait(&self) -> bool {
        self.raw.try_wait()
    }

    limited_waits! {
        /// Waits until the event is set.
        wait, wait_timeout, wait_until, wait_cancellable by wait_within, must_use "an event that resets itself may have been taken"
    }

    fn wait_within(&self, limit: Limit) -> Result<(), GaveUp> {
        self.raw.wait(WaitKind::Event, limit)
    }

    /// Waits until one of these events is set, and returns its position. Exactly one event ends the
    /// wait. The others stay as they are, even those that are set at the same time.
    ///
    /// If several are set at the start, the first one ends the wait. So an event that is always set
    /// hides those behind it; change the order if that matters. The caller keeps its place in the
    /// queue of each event as if it waited for that event alone. The same event may occur more than
    /// once.
    ///
    /// A wait for up to eight events does not allocate.
    ///
    /// # Panics
    ///
    /// Panics if `events` is empty. Panics as [`wait`](Self::wait) does.
    pub fn wait_any(events: &[&Self]) -> usize {
        always(Self::any(events, Limit::NEVER))
    }

    /// Returns the position of the first of these events that is set, if there is one, and resets
    /// it if it is an auto-reset event. Never waits.
    #[must_use = "an event that resets itself may have been taken"]
    pub fn try_wait_any(events: &[&Self]) -> Option<usize> {
        raw::try_wait_any(events.len(), |index| &events[index].raw)
    }

    /// Waits as [`wait_any`](Self::wait_any) does, but at most for `time`. Returns `None` if no
    /// event is set in that time.
    ///
    /// ```
    /// use sinew::sync::Event;
    /// use std::time::Duration;
    ///
    /// let (data, shutdown) = (Event::auto(), Event::manual());
    /// let time = Duration::from_millis(1);
    /// assert_eq!(Event::wait_any_timeout(&[&data, &shutdown], time), None);
    /// shutdown.set();
    /// assert_eq!(Event::wait_any_timeout(&[&data, &shutdown], time), Some(1));
    /// ```
    ///
    /// # Panics
    ///
    /// Panics as [`wait_any`](Self::wait_any) does.
    #[must_use = "an event that resets itself may have been taken"]
    pub fn wait_any_timeout(events: &[&Self], time: Duration) -> Option<usize> {
        Self::any(events, Limit::lasting(time)).ok()
    }

    /// Waits as [`wait_any`](Self::wait_any) does, but until `deadline` at the latest. Returns
    /// `None` if no event is set by then.
    ///
    /// # Panics
    ///
    /// Panics as [`wait_any`](Self::wait_any) does.
    #[must_use = "an event that resets itself may have been taken"]
    pub fn wait_any_until(events: &[&Self], deadline: Instant) -> Option<usize> {
        Self::any(events, Limit::until(Some(deadline))).ok()
    }

    /// Waits as [`wait_any`](Self::wait_any) does, but [cancellation and
    /// deadlines](crate::fiber#stopping) end the wait.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller is stopped before an event is set. No event is reset then.
    ///
    /// # Panics
    ///
    /// Panics as [`wait_any`](Self::wait_any) does.
    #[track_caller]
    pub fn wait_any_cancellable(events: &[&Self]) -> Result<usize, Stopped> {
        unless_stopped(Self::any(events, Limit::STOP))
    }

    fn any(events: &[&Self], limit: Limit) -> Result<usize, GaveUp> {
        assert!(!events.is_empty(), "`Event::wait_any` needs at least one event");
        raw::wait_any(events.len(), |index| &events[index].raw, limit)
    }
}

impl_debug!(Event, |event| { reset: event.raw.resets(), is_set: event.is_set() });
