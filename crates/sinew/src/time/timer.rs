//! Timers that call back.

use std::panic::Location;
use std::time::Duration;

use super::builder::TimerBuilder;
use super::error::CancelError;
use super::schedule::Schedule;
use super::timer_id::TimerId;
use crate::launch;
use crate::rt::{self, Callback, CallbackSpec, impl_debug};

/// A timer that calls back, on a new fiber each time. Dropping it cancels it, without waiting.
///
/// ```
/// use sinew::time::{Schedule, Timer};
/// use std::sync::mpsc;
/// use std::time::Duration;
///
/// let (sender, receiver) = mpsc::channel();
/// let timer = Timer::new(move || sender.send("now").unwrap());
/// assert!(!timer.is_armed());
/// timer.arm(Schedule::after(Duration::from_millis(1)));
/// assert_eq!(receiver.recv(), Ok("now"));
/// // It can be armed repeatedly; each call replaces the previous schedule.
/// timer.arm(Schedule::after(Duration::from_secs(3_600)));
/// timer.arm(Schedule::every(Duration::from_millis(1)));
/// assert_eq!(receiver.recv(), Ok("now"));
/// assert_eq!(receiver.recv(), Ok("now"));
/// ```
///
/// The callback is dropped when the timer is gone and no callback runs: by the code that drops or
/// cancels the timer, or on the callback's fiber.
#[must_use = "a timer is cancelled when it is dropped: keep it, or call `detach`"]
pub struct Timer {
    /// # Invariant
    ///
    /// Armed through this value only. It is `Some` until this value is detached.
    callback: Option<Callback>,
}

impl Timer {
    /// Creates a timer that is not armed, in the runtime of the calling fiber or in the default
    /// one.
    #[track_caller]
    pub fn new(mut callback: impl FnMut() + Send + 'static) -> Self {
        Self::plain(Location::caller(), move |_| callback())
    }

    /// Creates a timer as [`new`](Self::new) does, with a callback that receives the timer's id.
    ///
    /// ```
    /// use sinew::time::{Schedule, Timer};
    /// use std::sync::mpsc;
    /// use std::time::Duration;
    ///
    /// let (sender, receiver) = mpsc::channel();
    /// let mut left = 3;
    /// let timer = Timer::with_id(move |id| {
    ///     left -= 1;
    ///     sender.send(left).unwrap();
    ///     if left == 0 {
    ///         id.cancel();
    ///     }
    /// });
    /// timer.arm(Schedule::every(Duration::from_millis(1)));
    /// timer.detach();
    /// assert!(receiver.into_iter().eq([2, 1, 0]));
    /// ```
    #[track_caller]
    pub fn with_id(mut callback: impl FnMut(&TimerId) + Send + 'static) -> Self {
        Self::plain(Location::caller(), move |timer| callback(&TimerId::new(timer)))
    }

    /// Returns settings for a new timer: a name and a stack size for the fibers that run its
    /// callback, and its runtime.
    pub fn builder() -> TimerBuilder<'static> {
        TimerBuilder::default()
    }

    /// Creates a timer without settings.
    #[inline]
    #[track_caller]
    pub(super) fn plain(
        location: &'static Location<'static>,
        body: impl FnMut(&Callback) + Send + 'static,
    ) -> Self {
        let how = CallbackSpec::new(location, None);
        Self::of(Callback::new(launch::site().home(), how, body))
    }

    #[inline]
    pub(super) fn of(callback: Callback) -> Self {
        Self { callback: Some(callback) }
    }

    #[inline]
    fn callback(&self) -> &Callback {
        self.callback.as_ref().expect("only one that is gone is detached")
    }

    /// Arms the timer. If it was armed, this replaces its schedule. If its callback runs, the new
    /// schedule takes effect after it. A timer of [`after`](super::after) or [`at`](super::at)
    /// calls back only once: armed again before that call, it is postponed; armed again later, it
    /// does nothing.
    ///
    /// Returns whether the timer was armed before: if false, no call was pending, or the callback
    /// has begun.
    ///
    /// In a runtime that is being shut down no callback is called any more, and this has no effect.
    #[inline]
    pub fn arm(&self, schedule: Schedule) -> bool {
        self.callback().arm(schedule.0)
    }

    /// Returns whether a call is pending. While the callback runs, this is true if there is another
    /// tick to come.
    #[must_use]
    pub fn is_armed(&self) -> bool {
        self.callback().is_armed()
    }

    /// Cancels the timer, and does not wait for a callback that runs. Returns whether this has
    /// prevented a call: false if the timer was not armed, or if the only pending call has begun.
    /// The timer can be armed again.
    ///
    /// ```
    /// use sinew::time;
    /// use std::time::Duration;
    ///
    /// let timer = time::after(Duration::from_secs(3_600), || unreachable!("it was cancelled"));
    /// assert!(timer.cancel());
    /// assert!(!timer.cancel());
    /// ```
    #[inline]
    pub fn cancel(&self) -> bool {
        self.callback().cancel()
    }

    /// Cancels the timer, and waits for the end of a callback that runs. When this has returned
    /// without an error, no callback runs, and none will run until the timer is armed again.
    ///
    /// Returns what [`cancel`](Self::cancel) would return.
    ///
    /// # Errors
    ///
    /// Returns an error if it is called inside the timer's own callback, or if the runtime was shut
    /// down while the callback ran. The timer is cancelled nevertheless.
    ///
    /// # Panics
    ///
    /// Panics if it would wait inside [`no_suspend`](crate::fiber::no_suspend).
    pub fn cancel_and_wait(&self) -> Result<bool, CancelError> {
        self.callback().cancel_and_wait(None).map_err(CancelError::new)
    }

    /// Cancels the timer as [`cancel_and_wait`](Self::cancel_and_wait) does, but waits for at most
    /// `at_most`.
    ///
    /// # Errors
    ///
    /// Returns an error if the callback still runs then, or in the same cases as
    /// [`cancel_and_wait`](Self::cancel_and_wait).
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`cancel_and_wait`](Self::cancel_and_wait).
    pub fn cancel_and_wait_timeout(&self, at_most: Duration) -> Result<bool, CancelError> {
        // A time that overflows the clock never comes.
        self.callback().cancel_and_wait(rt::now().checked_add(at_most)).map_err(CancelError::new)
    }

    /// Detaches the timer: it stays armed without this value. From then on only [`TimerId::cancel`]
    /// can cancel it.
    pub fn detach(mut self) {
        self.callback = None;
    }

    /// Returns an id of the timer, for code that cancels it without owning it.
    #[must_use]
    pub fn id(&self) -> TimerId {
        TimerId::new(self.callback())
    }
}

impl Drop for Timer {
    #[inline]
    fn drop(&mut self) {
        if let Some(callback) = &self.callback {
            callback.cancel_for_good();
        }
    }
}

impl_debug!(Timer, |timer| { id: timer.id(), is_armed: timer.is_armed() });
