//! Deadlines and cancellation of the calling code, and the shield against both.

use std::panic::Location;
use std::time::Instant;

use super::stopped::Stopped;
use crate::rt::{self, Deadline};

/// Runs `body` with a deadline in force: calls inside that observe deadlines fail once it has
/// passed.
///
/// The deadline stops nothing by force. [`checkpoint`], the waits whose names end in
/// `_cancellable`, and I/O observe it; `join`, `sleep`, `park` and all other calls ignore it. If
/// deadlines are nested, the earliest one counts. If the deadline has already passed, the body
/// still runs, and its first observing call fails.
///
/// The fibers of a [scope](super::scope) that is opened inside inherit the deadline, because the
/// scope has to wait for all of them. Other fibers that are spawned inside have no deadline, unless
/// [`Builder::inherit_deadline`](super::Builder::inherit_deadline) is set; neither has the fiber
/// that [`run`](crate::run) spawns for its body. A [coroutine](crate::coroutine) that is suspended
/// inside the body does not keep the deadline.
///
/// ```
/// use sinew::fiber;
/// use std::time::{Duration, Instant};
///
/// let soon = Instant::now() + Duration::from_millis(1);
/// let hour = Duration::from_secs(3_600);
/// let result = fiber::with_deadline(soon, || fiber::sleep_cancellable(hour));
/// assert!(result.unwrap_err().is_timed_out());
/// ```
///
/// # Panics
///
/// Panics if the body panics.
#[track_caller]
pub fn with_deadline<R>(deadline: Instant, body: impl FnOnce() -> R) -> R {
    let by = Location::caller();
    rt::region(|force| force.limit(Deadline { at: deadline, by }), body)
}

/// Returns the deadline that is in force for the caller: the earliest one, if there is any.
#[must_use]
pub fn deadline() -> Option<Instant> {
    rt::deadline()
}

/// Returns an error if the caller was cancelled, or its deadline has passed. For code that runs for
/// long without waiting.
///
/// ```
/// use sinew::fiber;
///
/// let fiber = fiber::spawn(|| {
///     let mut rounds = 0_u64;
///     while fiber::checkpoint().is_ok() {
///         rounds += 1;
///         fiber::yield_now();
///     }
///     rounds
/// });
/// fiber.cancel();
/// fiber.join().unwrap();
/// ```
///
/// # Errors
///
/// Returns an error if the caller was cancelled, or its deadline has passed. Later calls return it
/// again.
#[inline]
#[track_caller]
pub fn checkpoint() -> Result<(), Stopped> {
    let at = Location::caller();
    rt::check_stop().map_err(|stop| Stopped::new(stop, at))
}

/// Returns whether the caller was cancelled, regardless of deadlines. [`checkpoint`] returns the
/// reason.
#[must_use]
pub fn is_cancelled() -> bool {
    rt::is_cancelled()
}

/// Runs `body` such that calls inside ignore the cancellation and the deadline of the caller. For
/// clean-up that must be completed.
///
/// What is set inside the body has its usual effect: a deadline, a token that is entered, a scope
/// that is cancelled.
///
/// ```
/// use sinew::fiber;
/// use std::time::Duration;
///
/// let fiber = fiber::spawn(|| {
///     let stopped = fiber::park_cancellable().unwrap_err();
///     let brief = Duration::from_millis(1);
///     fiber::shield(|| fiber::sleep_cancellable(brief)).expect("it is shielded");
///     stopped
/// });
/// fiber.cancel();
/// assert!(fiber.join().unwrap().is_cancelled());
/// ```
///
/// # Panics
///
/// Panics if the body panics.
pub fn shield<R>(body: impl FnOnce() -> R) -> R {
    rt::region(|force| force.shield(), body)
}
