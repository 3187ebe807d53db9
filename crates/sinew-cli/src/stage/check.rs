//! Checks: a chapter does not only print what it saw, it also says what that must be.

use std::error::Error;
use std::fmt::Debug;

/// Why a chapter failed.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Fails unless the condition holds. `what` says what does not.
pub(crate) fn check(holds: bool, what: impl FnOnce() -> String) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(what().into()) }
}

/// Fails unless both are equal.
pub(crate) fn check_equal<T: PartialEq + Debug>(what: &str, seen: T, expected: T) -> Result<(), Failure> {
    check(seen == expected, || format!("{what}: saw {seen:?}, expected {expected:?}"))
}
