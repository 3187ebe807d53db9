//! Stands in for the threads that make calls that block: each call is made in place, and a spare
//! worker runs the other fibers meanwhile. Knows nothing of what is called.

use std::sync::Arc;
use std::time::Duration;

use super::in_place::in_place;
use crate::rt::wait::{Force, Stop, Values, region, stop, suspend};

/// No threads.
pub(crate) struct BlockingPool;

impl BlockingPool {
    pub(crate) fn new(_runtime: &str, _most: usize, _patience: Duration) -> Arc<Self> {
        Arc::new(Self)
    }

    /// How many threads there are, and how many jobs wait for one.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (0, 0)
    }

    pub(crate) fn close(&self) {}
}

/// Calls `body` in place. No reason to stop is in force inside, as on a thread for such calls.
pub(crate) fn blocking<R: Send>(body: impl FnOnce() -> R + Send) -> R {
    if suspend::running().is_none() {
        return body();
    }
    suspend::check_may_wait();
    let values = region::current_values();
    in_place(|| region::region(|force| *force = shielded(values), body))
}

/// The same where cancellation and deadlines count, until the call begins.
///
/// # Errors
///
/// If the caller is to stop: nothing is begun then.
pub(crate) fn blocking_or_stop<F, R>(body: F) -> Result<R, Stop>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    stop::check()?;
    Ok(blocking(body))
}

fn shielded(values: Values) -> Force {
    Force { values, is_shielded: true, ..Force::default() }
}
