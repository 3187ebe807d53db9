//! A driver with no events but [`unpark`](Driver::unpark): one word to sleep on.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};
use rustix::time::Timespec;

use super::Driver;

/// The default driver: sleeps in the kernel until it is unparked.
#[derive(Debug, Default)]
pub struct FutexDriver {
    /// 1 from an unpark until the sleep that it ends.
    unparked: AtomicU32,
}

impl Driver for FutexDriver {
    fn look(&self) -> io::Result<usize> {
        Ok(0)
    }

    fn sleep(&self, at_most: Option<Duration>) -> io::Result<()> {
        let timeout = at_most.and_then(|time| Timespec::try_from(time).ok());
        // Acquire: the owner sees what the waker did before.
        if self.unparked.swap(0, Ordering::Acquire) == 0 {
            let slept = futex::wait(&self.unparked, Flags::PRIVATE, 0, timeout.as_ref());
            // Without an unpark, the end was a signal, the timeout, or spurious; all of them are
            // allowed.
            self.unparked.swap(0, Ordering::Acquire);
            return check(slept);
        }
        Ok(())
    }

    fn unpark(&self) {
        // Release: pairs with the acquire in `sleep`.
        self.unparked.store(1, Ordering::Release);
        // The word is in this value, so the address is valid, and `wake` has no other error.
        let woken = futex::wake(&self.unparked, Flags::PRIVATE, 1);
        debug_assert!(woken.is_ok(), "waking never fails: {woken:?}");
    }

    fn is_watching(&self) -> bool {
        false
    }
}

fn check(slept: rustix::io::Result<()>) -> io::Result<()> {
    match slept {
        Ok(()) | Err(Errno::AGAIN | Errno::INTR | Errno::TIMEDOUT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
