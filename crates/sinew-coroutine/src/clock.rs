//! The source of time for this crate: a function that the owner of a pool may replace. No other
//! file of the crate names the system's clock.

use std::time::Instant;

/// Returns the current time.
pub(crate) type Clock = fn() -> Instant;

/// The system's clock, which pools read unless they are given another one.
pub(crate) const SYSTEM: Clock = Instant::now;
