//! Sleeping.

use std::thread;
use std::time::{Duration, Instant};

use crate::rt::{self, Ends, Phase, WaitKind};

/// Sleeps for so long. A fiber gives its worker to others meanwhile; a plain thread blocks.
pub fn sleep(time: Duration) {
    if rt::running().is_none() {
        return thread::sleep(time);
    }
    // A moment beyond the clock's end never comes.
    rt::wait(Phase::First, WaitKind::Sleep.alone(), Ends::ByEvent, rt::now().checked_add(time), |_| true);
}

/// Sleeps until a moment.
pub fn sleep_until(deadline: Instant) {
    if rt::running().is_none() {
        return thread::sleep(deadline.saturating_duration_since(rt::now()));
    }
    if deadline > rt::now() {
        rt::wait(Phase::First, WaitKind::Sleep.alone(), Ends::ByEvent, Some(deadline), |_| true);
    } else {
        rt::spend(1);
    }
}
