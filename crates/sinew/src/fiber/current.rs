//! The calling fiber, and the operations on it.

use std::thread;
use std::time::Duration;

use super::reference::Fiber;
use crate::rt::{self, Cause, Ends, FiberRef, Phase, WaitKind};

/// Returns a handle to the calling fiber; on a plain thread, to that thread.
#[must_use]
pub fn current() -> Fiber {
    Fiber::new(FiberRef::running().unwrap_or_else(|| FiberRef::of_thread(thread::current(), rt::thread_id())))
}

/// Returns whether the caller is a fiber.
#[must_use]
pub fn is_fiber() -> bool {
    rt::running().is_some()
}

/// Yields to the other fibers that are ready on this worker; on a plain thread, to other threads.
/// Does nothing while the caller unwinds.
#[inline]
pub fn yield_now() {
    match rt::running() {
        Some((local, fiber)) => rt::yield_now(local, fiber),
        None => thread::yield_now(),
    }
}

/// Waits until another fiber or thread calls [`unpark`](Fiber::unpark) for the caller. Returns at
/// once if that has happened since the last park. May also return spuriously, as std's `park` may.
pub fn park() {
    if is_fiber() {
        rt::wait(Phase::First, WaitKind::Park.alone(), Ends::ByUnpark, None, |_| true);
    } else {
        thread::park();
    }
}

/// Waits as [`park`] does, but for at most `time`.
pub fn park_timeout(time: Duration) {
    match (is_fiber(), rt::now().checked_add(time)) {
        (false, _) => thread::park_timeout(time),
        (true, None) => park(),
        (true, until) => {
            let _: Cause = rt::wait(Phase::First, WaitKind::Park.alone(), Ends::ByUnpark, until, |_| true);
        }
    }
}

/// Returns whether the caller unwinds because of a panic.
///
/// While a fiber unwinds and waits in a destructor, another fiber of its worker may run. The result
/// is then not reliable for that other fiber, because std counts panics by thread: if the wait is
/// longer than some milliseconds, this returns true for both fibers.
#[must_use]
pub fn panicking() -> bool {
    thread::panicking()
}

/// Returns the group of workers in which the calling fiber runs, or `None` on a plain thread.
#[must_use]
pub fn current_group() -> Option<usize> {
    rt::running().and_then(|(local, _)| local.context().group())
}
