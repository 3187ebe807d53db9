//! Sleeps, parks and joins that observe cancellation and deadlines.

use std::error::Error;
use std::panic::Location;
use std::time::{Duration, Instant};
use std::{fmt, io};

use super::current::is_fiber;
use super::stopped::Stopped;
use crate::rt::{self, Cause, Ends, Phase, WaitKind, impl_debug};

/// Sleeps as [`sleep`](super::sleep) does, but returns early when the caller is cancelled or its
/// deadline passes.
///
/// # Errors
///
/// Returns an error if the caller was cancelled, or its deadline has passed, before the time is
/// over or before the call.
#[track_caller]
pub fn sleep_cancellable(time: Duration) -> Result<(), Stopped> {
    // A time that overflows the clock never comes.
    sleep_to(rt::now().checked_add(time), Location::caller())
}

/// Sleeps as [`sleep_until`](super::sleep_until) does, but returns early when the caller is
/// cancelled or its deadline passes.
///
/// # Errors
///
/// Returns an error if the caller was cancelled, or its deadline has passed, before that moment or
/// before the call.
#[track_caller]
pub fn sleep_until_cancellable(deadline: Instant) -> Result<(), Stopped> {
    let at = Location::caller();
    if deadline > rt::now() {
        sleep_to(Some(deadline), at)
    } else {
        rt::check_stop().map_err(|stop| Stopped::new(stop, at))
    }
}

fn sleep_to(until: Option<Instant>, at: &'static Location<'static>) -> Result<(), Stopped> {
    let mut phase = Phase::First;
    loop {
        let ended = rt::wait_or_stop(phase, WaitKind::Sleep.alone(), Ends::ByEvent, until, |_| true);
        match ended.map_err(|stop| Stopped::new(stop, at))? {
            // A wake-up that is not the end of the sleep and not a stop.
            Cause::Cancel => {}
            _ => return Ok(()),
        }
        phase = Phase::Later;
    }
}

/// Parks as [`park`](super::park) does, but returns early when the caller is cancelled or its
/// deadline passes. It may also return spuriously, as `park` may.
///
/// # Errors
///
/// Returns an error if the caller was cancelled, or its deadline has passed, during the call or
/// before it. If a fiber was unparked as well, its next park returns at once. On a plain thread the
/// token may be lost.
#[track_caller]
pub fn park_cancellable() -> Result<(), Stopped> {
    park_to(None, Location::caller())
}

/// Parks as [`park_timeout`](super::park_timeout) does, but returns early when the caller is
/// cancelled or its deadline passes.
///
/// # Errors
///
/// Returns the same errors as [`park_cancellable`].
#[track_caller]
pub fn park_timeout_cancellable(time: Duration) -> Result<(), Stopped> {
    park_to(rt::now().checked_add(time), Location::caller())
}

fn park_to(until: Option<Instant>, at: &'static Location<'static>) -> Result<(), Stopped> {
    let ended = if is_fiber() {
        rt::wait_or_stop(Phase::First, WaitKind::Park.alone(), Ends::ByUnpark, until, |_| true).map(|_| ())
    } else {
        rt::park_thread(until)
    };
    ended.map_err(|stop| Stopped::new(stop, at))
}

/// The error of a join that was stopped before the fiber had ended. It contains the handle.
///
/// The `?` operator converts it into a [`Stopped`] or an [`io::Error`], which drops the handle and
/// so detaches the fiber:
///
/// ```
/// use sinew::{fiber, time};
/// use std::io;
/// use std::time::Duration;
///
/// fn answer(fiber: fiber::JoinHandle<u32>) -> io::Result<u32> {
///     fiber.join_cancellable()?.map_err(|_| io::Error::other("it panicked"))
/// }
///
/// let fiber = fiber::spawn(|| {
///     fiber::park();
///     42
/// });
/// let too_late = time::timeout(Duration::from_millis(1), || answer(fiber));
/// assert_eq!(too_late.unwrap_err().kind(), io::ErrorKind::TimedOut);
/// ```
pub struct JoinStopped<H> {
    /// The handle, by which the fiber can be joined later.
    pub handle: H,
    /// Why the caller of the join was stopped.
    pub stopped: Stopped,
}

impl<H> JoinStopped<H> {
    pub(super) fn map<T>(self, change: impl FnOnce(H) -> T) -> JoinStopped<T> {
        JoinStopped { handle: change(self.handle), stopped: self.stopped }
    }
}

impl_debug!(JoinStopped<H>, |stopped| { stopped: stopped.stopped, .. });

impl<H> fmt::Display for JoinStopped<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the join was stopped: {}", self.stopped)
    }
}

/// `source` returns `None`, because the message contains that of `stopped`: a report that prints
/// sources would repeat it.
impl<H> Error for JoinStopped<H> {}

impl<H> From<JoinStopped<H>> for Stopped {
    fn from(error: JoinStopped<H>) -> Self {
        error.stopped
    }
}

/// Drops the handle, which detaches the fiber.
impl<H> From<JoinStopped<H>> for io::Error {
    fn from(error: JoinStopped<H>) -> Self {
        error.stopped.into()
    }
}
