//! The waits that observe cancellation and deadlines.

use std::error::Error;
use std::panic::Location;
use std::time::{Duration, Instant};
use std::{fmt, io};

use super::current::is_fiber;
use super::stopped::Stopped;
use crate::rt::{self, Cause, Ends, Phase, WaitKind, impl_debug};

/// [`sleep`](super::sleep), which cancellation and deadlines end.
///
/// # Errors
///
/// If the caller is to stop before the time is over, or was to stop already.
#[track_caller]
pub fn sleep_cancellable(time: Duration) -> Result<(), Stopped> {
    // A moment beyond the clock's end never comes.
    sleep_to(rt::now().checked_add(time), Location::caller())
}

/// [`sleep_until`](super::sleep_until), which cancellation and deadlines end.
///
/// # Errors
///
/// If the caller is to stop before that moment, or was to stop already.
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
            // For nothing.
            Cause::Cancel => {}
            _ => return Ok(()),
        }
        phase = Phase::Later;
    }
}

/// [`park`](super::park), which cancellation and deadlines end. May return for no reason, as that may.
///
/// # Errors
///
/// If the caller is to stop, or was to stop already. A fiber that was unparked as well finds that at its next park; of a plain thread
/// nobody can tell.
#[track_caller]
pub fn park_cancellable() -> Result<(), Stopped> {
    park_to(None, Location::caller())
}

/// [`park_timeout`](super::park_timeout), which cancellation and deadlines end.
///
/// # Errors
///
/// As [`park_cancellable`].
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

/// A join that was stopped before the fiber had ended. The handle is in here.
///
/// By `?` it becomes a [`Stopped`] or an [`io::Error`], and the fiber is detached:
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
    /// The handle, as it was.
    pub handle: H,
    /// Why.
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
        write!(f, "a join did not come to its end: {}", self.stopped)
    }
}

/// Its text has all that `stopped` would say, so that one is no source of it: whoever tells of sources too would say it twice.
impl<H> Error for JoinStopped<H> {}

impl<H> From<JoinStopped<H>> for Stopped {
    fn from(error: JoinStopped<H>) -> Self {
        error.stopped
    }
}

/// The handle is dropped, which detaches the fiber.
impl<H> From<JoinStopped<H>> for io::Error {
    fn from(error: JoinStopped<H>) -> Self {
        error.stopped.into()
    }
}
