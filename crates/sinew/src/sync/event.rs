//! A flag to wait for, alone or with others.

use std::time::{Duration, Instant};

use crate::fiber::Stopped;
use crate::limited::limited_waits;
use crate::limited::{always, unless_stopped};
use crate::raw::{self, RawEvent, Reset};
use crate::rt::{GaveUp, Limit, WaitKind, impl_debug, impl_unwind_safe};

/// A flag that is set by one and waited for by others, fibers and threads alike. Anybody may set it, from any thread, and never waits.
///
/// There are two kinds:
///
/// - [`Event::auto`]: whoever goes on resets it. Each time it is set, exactly one goes on: the one who has waited longest; or, if nobody waits,
///   the next one to come. Setting it while it is set is nothing more.
/// - [`Event::manual`]: once set, it lets everybody go on, until it is [`reset`](Self::reset). Waiting for one that is set is a look at one word.
///
/// [`wait_any`](Self::wait_any) waits for several of either kind.
///
/// What was done before an event is set is seen by whoever goes on by it.
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

// No code of the user's runs while it is changed.
impl_unwind_safe!(Event);

impl Event {
    /// One that is not set, and is reset by whoever goes on.
    #[inline]
    #[must_use]
    pub const fn auto() -> Self {
        Self { raw: RawEvent::new(Reset::Auto) }
    }

    /// One that is not set, and once it is, stays so until it is reset.
    #[inline]
    #[must_use]
    pub const fn manual() -> Self {
        Self { raw: RawEvent::new(Reset::Manual) }
    }

    /// Sets it: has one go on, or all, as its kind is.
    pub fn set(&self) {
        self.raw.set();
    }

    /// It is not set any more. Those who were to go on do so.
    pub fn reset(&self) {
        self.raw.reset();
    }

    /// Whether it is set. Takes nothing.
    #[inline]
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.raw.is_set()
    }

    /// Whether the caller may go on: an auto-reset event is reset by that.
    #[inline]
    #[must_use = "an event that resets itself may have been taken"]
    pub fn try_wait(&self) -> bool {
        self.raw.try_wait()
    }

    limited_waits! {
        /// Waits until it is set.
        wait, wait_timeout, wait_until, wait_cancellable by wait_within, must_use "an event that resets itself may have been taken"
    }

    fn wait_within(&self, limit: Limit) -> Result<(), GaveUp> {
        self.raw.wait(WaitKind::Event, limit)
    }

    /// Waits until one of these is set, and returns its position. Exactly one of them lets the caller go on: the others stay as they are, those
    /// too that are set at the same time.
    ///
    /// If several are set already, it is the first of them, so that one which is set all the time keeps those behind it from being found: have
    /// the order change, if that matters. The caller waits for each of them in the order in which it came, as if it waited for that one alone.
    /// The same event may be there more than once.
    ///
    /// A wait for up to eight allocates nothing.
    ///
    /// # Panics
    ///
    /// If there are none to wait for. As [`wait`](Self::wait).
    pub fn wait_any(events: &[&Self]) -> usize {
        always(Self::any(events, Limit::NEVER))
    }

    /// The position of the first of these that lets the caller go on, if one does.
    #[must_use = "an event that resets itself may have been taken"]
    pub fn try_wait_any(events: &[&Self]) -> Option<usize> {
        raw::try_wait_any(events.len(), |index| &events[index].raw)
    }

    /// [`wait_any`](Self::wait_any), for at most so long. None, if that was not enough.
    ///
    /// # Panics
    ///
    /// As [`wait_any`](Self::wait_any).
    #[must_use = "an event that resets itself may have been taken"]
    pub fn wait_any_timeout(events: &[&Self], time: Duration) -> Option<usize> {
        Self::any(events, Limit::lasting(time)).ok()
    }

    /// [`wait_any`](Self::wait_any), until this moment at the latest.
    ///
    /// # Panics
    ///
    /// As [`wait_any`](Self::wait_any).
    #[must_use = "an event that resets itself may have been taken"]
    pub fn wait_any_until(events: &[&Self], deadline: Instant) -> Option<usize> {
        Self::any(events, Limit::until(Some(deadline))).ok()
    }

    /// [`wait_any`](Self::wait_any), where [cancellation and deadlines](crate::fiber#stopping) count.
    ///
    /// # Errors
    ///
    /// If the caller is to stop before one is set. None was taken then.
    ///
    /// # Panics
    ///
    /// As [`wait_any`](Self::wait_any).
    #[track_caller]
    pub fn wait_any_cancellable(events: &[&Self]) -> Result<usize, Stopped> {
        unless_stopped(Self::any(events, Limit::STOP))
    }

    fn any(events: &[&Self], limit: Limit) -> Result<usize, GaveUp> {
        assert!(!events.is_empty(), "a wait for any of no events would never end");
        raw::wait_any(events.len(), |index| &events[index].raw, limit)
    }
}

impl_debug!(Event, |event| { reset: event.raw.resets(), is_set: event.is_set() });
