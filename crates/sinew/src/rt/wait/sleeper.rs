//! What a plain thread sleeps on: a futex. Knows no wait.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};
use rustix::time::Timespec;

use crate::rt::base::clock;

/// 1 from a wake-up until it is reset.
#[derive(Debug)]
pub(crate) struct Sleeper(AtomicU32);

impl Sleeper {
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// For the thread itself, when nobody can be about to wake it.
    pub(crate) fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Whether it was woken.
    pub(crate) fn is_woken(&self) -> bool {
        // Acquire: pairs with the release of `wake`.
        self.0.load(Ordering::Acquire) != 0
    }

    /// Wakes the thread. It may be gone after this.
    pub(crate) fn wake(&self) {
        // Release: what was done before is seen by the thread.
        self.0.store(1, Ordering::Release);
        // Whoever calls this knows that the memory stays; there is no other error.
        let _ = futex::wake(&self.0, Flags::PRIVATE, 1);
    }

    /// How much time is left until this moment.
    pub(crate) fn left(until: Option<Instant>) -> Option<Duration> {
        until.map(|until| until.saturating_duration_since(clock::now()))
    }

    /// Sleeps until it is woken, or for so long; or less.
    pub(crate) fn sleep(&self, time: Option<Duration>) {
        let timeout = time.and_then(|time| Timespec::try_from(time).ok());
        match futex::wait(&self.0, Flags::PRIVATE, 0, timeout.as_ref()) {
            Ok(()) | Err(Errno::AGAIN | Errno::INTR | Errno::TIMEDOUT) => {}
            // A sandbox may refuse it. No panic: others know of the wait. The caller looks again.
            Err(_) => std::thread::sleep(Duration::from_micros(50)),
        }
    }
}
