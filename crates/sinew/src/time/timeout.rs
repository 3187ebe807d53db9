//! A deadline that is given as a time from now.

use std::time::Duration;

use crate::fiber;
use crate::rt;

/// Runs `body` with a deadline after `time`, and returns its value. This is
/// [`fiber::with_deadline`] with a time instead of a moment.
///
/// Calls inside that observe deadlines fail when the time is over, and the body decides how to
/// continue. It is not interrupted, and not abandoned in the middle as a future can be: calls that
/// ignore deadlines take as long as they need, and nothing that the body holds is lost.
///
/// ```
/// use sinew::{fiber, time};
/// use std::time::Duration;
///
/// let answer = time::timeout(Duration::from_millis(1), || {
///     let slow = fiber::spawn(|| {
///         fiber::park_cancellable().unwrap_err();
///         "too late"
///     });
///     slow.join_cancellable().map_err(|stopped| {
///         let slow = stopped.handle;
///         slow.cancel();
///         slow.join().unwrap()
///     })
/// });
/// assert_eq!(answer.unwrap_err(), "too late");
/// ```
///
/// # Panics
///
/// Panics if the body panics.
#[track_caller]
pub fn timeout<R>(time: Duration, body: impl FnOnce() -> R) -> R {
    match rt::now().checked_add(time) {
        Some(deadline) => fiber::with_deadline(deadline, body),
        // The deadline would never be reached.
        None => body(),
    }
}
