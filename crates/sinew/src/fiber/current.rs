//! The fiber that runs, and what it can do with itself.

use std::fmt;
use std::panic::Location;
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::id::FiberId;
use crate::rt::{self, Cause, Ends, FiberRef, Pause};

/// A fiber; or a plain thread, as [`current`] shows it there.
#[derive(Clone)]
pub struct Fiber {
    inner: Inner,
}

#[derive(Clone)]
enum Inner {
    Fiber(FiberRef),
    Thread(Thread, FiberId),
}

impl Fiber {
    pub(super) fn of(reference: FiberRef) -> Self {
        Self { inner: Inner::Fiber(reference) }
    }

    /// Has the fiber's present or next [`park`] return.
    pub fn unpark(&self) {
        match &self.inner {
            Inner::Fiber(fiber) => fiber.unpark(),
            Inner::Thread(thread, _) => thread.unpark(),
        }
    }

    /// Its number, which no other fiber ever has.
    #[must_use]
    pub fn id(&self) -> FiberId {
        match &self.inner {
            Inner::Fiber(fiber) => FiberId::new(fiber.get().birth.id),
            Inner::Thread(_, id) => *id,
        }
    }

    /// The name it was given.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.inner {
            Inner::Fiber(fiber) => fiber.get().birth.name.as_deref(),
            Inner::Thread(thread, _) => thread.name(),
        }
    }

    /// Where in the program it was made; not known of plain threads.
    #[must_use]
    pub fn spawned_at(&self) -> Option<&'static Location<'static>> {
        match &self.inner {
            Inner::Fiber(fiber) => Some(fiber.get().birth.location),
            Inner::Thread(..) => None,
        }
    }
}

impl fmt::Debug for Fiber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fiber").field("id", &self.id()).field("name", &self.name()).finish_non_exhaustive()
    }
}

/// The fiber that calls this; on a plain thread, that thread.
#[must_use]
pub fn current() -> Fiber {
    match rt::running_reference() {
        Some(fiber) => Fiber::of(fiber),
        None => Fiber { inner: Inner::Thread(thread::current(), FiberId::new(rt::thread_id())) },
    }
}

/// Whether the caller is a fiber.
#[must_use]
pub fn is_fiber() -> bool {
    rt::running().is_some()
}

/// Lets the others that are ready on this worker run first; on a plain thread, other threads.
#[inline]
pub fn yield_now() {
    match rt::running() {
        Some((_, fiber)) => rt::pause(fiber, Pause::Yield),
        None => thread::yield_now(),
    }
}

/// Waits until somebody calls [`unpark`](Fiber::unpark); not at all, if that has happened since the last time. May return
/// for no reason, as std's may.
pub fn park() {
    if is_fiber() {
        rt::wait(Ends::ByUnpark, None, |_| true);
    } else {
        thread::park();
    }
}

/// [`park`], for at most so long.
pub fn park_timeout(time: Duration) {
    match (is_fiber(), Instant::now().checked_add(time)) {
        (false, _) => thread::park_timeout(time),
        (true, None) => park(),
        (true, until) => {
            let _: Cause = rt::wait(Ends::ByUnpark, until, |_| true);
        }
    }
}

/// Whether the caller unwinds because of a panic.
#[must_use]
pub fn panicking() -> bool {
    thread::panicking()
}
