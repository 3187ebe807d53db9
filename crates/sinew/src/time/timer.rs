//! Timers that call back.

use std::panic::Location;
use std::time::Duration;

use super::builder::TimerBuilder;
use super::error::CancelError;
use super::schedule::Schedule;
use super::timer_id::TimerId;
use crate::launch;
use crate::rt::{self, Callback, CallbackSpec, impl_debug};

/// A timer that calls back, on a fiber of its own each time. Dropping it cancels it, without waiting.
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
/// // As often as one likes; and arming it anew replaces what was.
/// timer.arm(Schedule::after(Duration::from_secs(3_600)));
/// timer.arm(Schedule::every(Duration::from_millis(1)));
/// assert_eq!(receiver.recv(), Ok("now"));
/// assert_eq!(receiver.recv(), Ok("now"));
/// ```
///
/// What its callback holds is dropped when the timer is gone and no callback runs: by whoever drops or cancels it, or on the callback's fiber.
#[must_use = "a timer is cancelled when it is dropped: keep it, or call `detach`"]
pub struct Timer {
    /// # Invariant
    ///
    /// Armed through this value only, and there until this is detached.
    callback: Option<Callback>,
}

impl Timer {
    /// A timer that is not armed, in the runtime of the calling fiber or in the default one.
    #[track_caller]
    pub fn new(mut callback: impl FnMut() + Send + 'static) -> Self {
        Self::plain(Location::caller(), move |_| callback())
    }

    /// The same with a callback that is told its timer's id.
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

    /// Settings of one's own: a name and a stack for the fibers that call back, a runtime.
    pub fn builder() -> TimerBuilder<'static> {
        TimerBuilder::default()
    }

    /// Without settings.
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

    /// Arms it. If it was armed, this replaces its schedule. If its callback runs, what was armed comes after that. One made by
    /// [`after`](super::after) or [`at`](super::at) calls back once in all: armed anew before that, it is put off, and after that it does nothing.
    ///
    /// Returns whether it was armed until now. If not, it was never to be called, or its callback has begun.
    ///
    /// In a runtime that is being shut down nobody is called any more: this changes nothing there.
    #[inline]
    pub fn arm(&self, schedule: Schedule) -> bool {
        self.callback().arm(schedule.0)
    }

    /// Whether it is to call back, or is about to; also while its callback runs, if there is another tick to come.
    #[must_use]
    pub fn is_armed(&self) -> bool {
        self.callback().is_armed()
    }

    /// Cancels it, and does not wait for a callback that runs. Returns whether this has kept a callback from being called: false, if it was
    /// not armed, or the only one that was to come has begun. It can be armed again.
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

    /// Cancels it, and waits for the end of a callback that runs. When it has returned without an error, no callback runs, and none will
    /// until it is armed again.
    ///
    /// Returns what [`cancel`](Self::cancel) would have.
    ///
    /// # Errors
    ///
    /// If it is called inside the timer's own callback, or the runtime was shut down while the callback ran. It is cancelled all the same.
    ///
    /// # Panics
    ///
    /// If it would wait inside [`no_suspend`](crate::fiber::no_suspend).
    pub fn cancel_and_wait(&self) -> Result<bool, CancelError> {
        self.callback().cancel_and_wait(None).map_err(CancelError::new)
    }

    /// The same, and waits for so long at most.
    ///
    /// # Errors
    ///
    /// If the callback still runs then, or as [`cancel_and_wait`](Self::cancel_and_wait).
    ///
    /// # Panics
    ///
    /// As [`cancel_and_wait`](Self::cancel_and_wait).
    pub fn cancel_and_wait_timeout(&self, at_most: Duration) -> Result<bool, CancelError> {
        // A moment beyond the clock's end never comes.
        self.callback().cancel_and_wait(rt::now().checked_add(at_most)).map_err(CancelError::new)
    }

    /// Lets it go on by itself. [`TimerId::cancel`] cancels it from then on; nobody else does.
    pub fn detach(mut self) {
        self.callback = None;
    }

    /// What names it, for whoever is to cancel it and does not have it.
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
