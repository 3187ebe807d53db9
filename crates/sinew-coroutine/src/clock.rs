//! Where this crate gets the time from: a function that the owner of a pool may replace. Nothing
//! else here names the clock of the system.

use std::time::Instant;

/// Returns the current time.
pub(crate) type Clock = fn() -> Instant;

/// The clock of the system, which pools read unless they are given another one.
pub(crate) const SYSTEM: Clock = Instant::now;
