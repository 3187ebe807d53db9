//! A deadline that is so far from now.

use std::time::Duration;

use crate::fiber;
use crate::rt;

/// Runs `body` with a deadline so far from now, and returns what it returns: [`fiber::with_deadline`] for a time in place of a moment.
///
/// Calls inside that observe deadlines fail when the time is over, and the body decides what that comes to. It is not interrupted, nor abandoned where
/// it stands, as a future can be: what ignores deadlines takes as long as it takes, and nothing that it holds is lost.
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
/// If the body does.
#[track_caller]
pub fn timeout<R>(time: Duration, body: impl FnOnce() -> R) -> R {
    match rt::now().checked_add(time) {
        Some(deadline) => fiber::with_deadline(deadline, body),
        // It never comes.
        None => body(),
    }
}
