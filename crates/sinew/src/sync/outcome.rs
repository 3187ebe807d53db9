//! What the calls here return of a wait that has a limit. Knows no wait.

use std::panic::Location;

use crate::fiber::Stopped;
use crate::rt::GaveUp;

/// A wait that nothing ends but what it waits for.
pub(super) fn always<T>(result: Result<T, GaveUp>) -> T {
    result.unwrap_or_else(|_| unreachable!("this wait has no limit"))
}

/// A wait that may be stopped, and has no limit of time.
///
/// # Errors
///
/// If it was, at the place of the program that asks.
#[track_caller]
pub(super) fn unless_stopped<T>(result: Result<T, GaveUp>) -> Result<T, Stopped> {
    let at = Location::caller();
    result.map_err(|gave_up| match gave_up {
        GaveUp::Stopped(stop) => Stopped::new(stop, at),
        GaveUp::TimedOut => unreachable!("this wait has no limit of time"),
    })
}
