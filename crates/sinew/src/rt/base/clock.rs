//! The clock of this crate. All code that needs the time calls [`now`], and the pillars get this
//! function when their pools are built, so that a simulation can replace it in one place.

use std::time::Instant;

/// Returns the current time.
#[inline]
pub(crate) fn now() -> Instant {
    Instant::now()
}
