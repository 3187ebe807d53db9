//! The futex on which a plain thread sleeps. Knows no wait.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};
use rustix::time::Timespec;

use crate::rt::base::clock;

/// 1 from a wake-up until the next reset, else 0.
#[derive(Debug)]
pub(crate) struct Sleeper(AtomicU32);

impl Sleeper {
    pub(crate) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Clears an earlier wake-up. Called by the sleeping thread, while no thread can be about to
    /// wake it.
    pub(crate) fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Returns whether the thread was woken.
    pub(crate) fn is_woken(&self) -> bool {
        // Acquire: pairs with the release of `wake`.
        self.0.load(Ordering::Acquire) != 0
    }

    /// Wakes the thread. The thread may be gone after this.
    pub(crate) fn wake(&self) {
        // Release: the thread sees what was done before the wake-up.
        self.0.store(1, Ordering::Release);
        // The caller guarantees that the memory stays valid. There is no other error.
        let _ = futex::wake(&self.0, Flags::PRIVATE, 1);
    }

    /// Returns how much time is left until this moment.
    pub(crate) fn left(until: Option<Instant>) -> Option<Duration> {
        until.map(|until| until.saturating_duration_since(clock::now()))
    }

    /// Sleeps until a wake-up, or for this time, or shorter.
    pub(crate) fn sleep(&self, time: Option<Duration>) {
        let timeout = time.and_then(|time| Timespec::try_from(time).ok());
        match futex::wait(&self.0, Flags::PRIVATE, 0, timeout.as_ref()) {
            Ok(()) | Err(Errno::AGAIN | Errno::INTR | Errno::TIMEDOUT) => {}
            // A sandbox may refuse the call. This does not panic, since wakers know of the wait.
            // The caller checks again.
            Err(_) => std::thread::sleep(Duration::from_micros(50)),
        }
    }
}
