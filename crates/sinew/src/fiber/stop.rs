//! What stops the calling fiber: deadlines, cancellation, and what shields it from both.

use std::panic::Location;
use std::time::Instant;

use super::stopped::Stopped;
use crate::rt::{self, Deadline};

/// Runs `body` with a deadline in force: calls inside that observe deadlines fail when it has passed.
///
/// It ends nothing by force. [`checkpoint`], the waits whose names end in `_cancellable`, and input and output observe it; `join`, `sleep`, `park` and all
/// else that cannot say so do not. Of deadlines inside one another the nearest counts. If it has passed already, the body runs, and
/// its first such call fails.
///
/// The fibers of a [scope](super::scope) that is opened inside inherit the deadline, so that the
/// scope, which waits for all of them, ends in time. Other fibers that are made inside have none,
/// unless [`Builder::inherit_deadline`](super::Builder::inherit_deadline) asks for it; neither has
/// the one that [`run`](crate::run) makes of its body. A [coroutine](crate::coroutine) that is
/// suspended inside the body does not take the deadline along.
///
/// ```
/// use sinew::fiber;
/// use std::time::{Duration, Instant};
///
/// let soon = Instant::now() + Duration::from_millis(1);
/// let result = fiber::with_deadline(soon, || fiber::sleep_cancellable(Duration::from_secs(3_600)));
/// assert!(result.unwrap_err().is_timed_out());
/// ```
///
/// # Panics
///
/// If the body does.
#[track_caller]
pub fn with_deadline<R>(deadline: Instant, body: impl FnOnce() -> R) -> R {
    let by = Location::caller();
    rt::region(|force| force.limit(Deadline { at: deadline, by }), body)
}

/// The deadline that is in force here: the nearest one, if there is any.
#[must_use]
pub fn deadline() -> Option<Instant> {
    rt::deadline()
}

/// Returns an error if the caller is to stop: it was cancelled, or its deadline has passed. For code that runs for long without
/// waiting.
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
/// If the caller is to stop. The next checkpoint says so again.
#[inline]
#[track_caller]
pub fn checkpoint() -> Result<(), Stopped> {
    let at = Location::caller();
    rt::check_stop().map_err(|stop| Stopped::new(stop, at))
}

/// Whether the caller was cancelled, whatever its deadline. [`checkpoint`] says why.
#[must_use]
pub fn is_cancelled() -> bool {
    rt::is_cancelled()
}

/// Runs `body` where neither cancellation nor deadlines count: for clean-up that has to come to its end.
///
/// What is set inside counts again: a deadline, a token that is entered, a scope that is cancelled.
///
/// ```
/// use sinew::fiber;
/// use std::time::Duration;
///
/// let fiber = fiber::spawn(|| {
///     let stopped = fiber::park_cancellable().unwrap_err();
///     fiber::shield(|| fiber::sleep_cancellable(Duration::from_millis(1))).expect("nobody cancels this");
///     stopped
/// });
/// fiber.cancel();
/// assert!(fiber.join().unwrap().is_cancelled());
/// ```
///
/// # Panics
///
/// If the body does.
pub fn shield<R>(body: impl FnOnce() -> R) -> R {
    rt::region(|force| force.shield(), body)
}
