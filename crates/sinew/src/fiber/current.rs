//! The fiber that runs, and what it can do with itself.

use std::thread;
use std::time::Duration;

use super::reference::Fiber;
use crate::rt::{self, Cause, Ends, FiberRef, Phase, WaitKind};

/// The fiber that calls this; on a plain thread, that thread.
#[must_use]
pub fn current() -> Fiber {
    Fiber::new(FiberRef::running().unwrap_or_else(|| FiberRef::of_thread(thread::current(), rt::thread_id())))
}

/// Whether the caller is a fiber.
#[must_use]
pub fn is_fiber() -> bool {
    rt::running().is_some()
}

/// Lets the others that are ready on this worker run first; on a plain thread, other threads. While the caller unwinds, it does
/// nothing.
#[inline]
pub fn yield_now() {
    match rt::running() {
        Some((local, fiber)) => rt::yield_now(local, fiber),
        None => thread::yield_now(),
    }
}

/// Waits until somebody calls [`unpark`](Fiber::unpark); not at all, if that has happened since the last time. May return
/// for no reason, as std's may.
pub fn park() {
    if is_fiber() {
        rt::wait(Phase::First, WaitKind::Park.alone(), Ends::ByUnpark, None, |_| true);
    } else {
        thread::park();
    }
}

/// [`park`], for at most so long.
pub fn park_timeout(time: Duration) {
    match (is_fiber(), rt::now().checked_add(time)) {
        (false, _) => thread::park_timeout(time),
        (true, None) => park(),
        (true, until) => {
            let _: Cause = rt::wait(Phase::First, WaitKind::Park.alone(), Ends::ByUnpark, until, |_| true);
        }
    }
}

/// Whether the caller unwinds because of a panic.
///
/// Of a fiber that goes on while another one on its worker unwinds, and waits in a destructor meanwhile, nobody can tell: std counts panics by thread.
/// If the wait is longer than some milliseconds, this is true for both.
#[must_use]
pub fn panicking() -> bool {
    thread::panicking()
}

/// The group of workers that the calling fiber runs in; none, if it is a plain thread.
#[must_use]
pub fn current_group() -> Option<usize> {
    rt::running().and_then(|(local, _)| local.context().group())
}
