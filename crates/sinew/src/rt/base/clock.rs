//! The clock of this crate. Everything that needs the time calls [`now`], and the pillars are given
//! it when their pools are built, so that a simulation can replace it in one place.

use std::time::Instant;

/// Returns the current time.
#[inline]
pub(crate) fn now() -> Instant {
    Instant::now()
}
