//! Sleeping.

use std::thread;
use std::time::{Duration, Instant};

use crate::rt::{self, Ends, Phase, WaitKind};

/// Sleeps for at least `time`. A fiber lets others run on its worker meanwhile; a plain thread
/// blocks.
pub fn sleep(time: Duration) {
    if rt::running().is_none() {
        return thread::sleep(time);
    }
    // A time that overflows the clock never comes.
    rt::wait(Phase::First, WaitKind::Sleep.alone(), Ends::ByEvent, rt::now().checked_add(time), |_| true);
}

/// Sleeps until `deadline`, or not at all if it has passed.
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
