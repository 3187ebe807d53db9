//! What ends the sleep of a plain thread that waits for a descriptor: one more descriptor, if somebody may have a reason to. Knows no wait.
//!
//! The thread says that it listens, and then looks whether its wait has ended; whoever ends the wait does that first, and then looks whether the thread
//! listens. Between the two there is a fence on both sides, so that one of them at least sees the other.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, fence};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{read, write};

/// The bell of a thread.
#[derive(Debug)]
pub(crate) struct Bell {
    listens: AtomicBool,
    /// None, if there was none to be had. Made when it is first needed, and kept.
    event: OnceLock<OwnedFd>,
}

impl Bell {
    pub(crate) fn new() -> Self {
        Self { listens: AtomicBool::new(false), event: OnceLock::new() }
    }

    /// Rings it, if the thread listens. What ended the wait has been done.
    #[inline]
    pub(crate) fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.listens.load(Ordering::Relaxed)
            && let Some(event) = self.event.get()
        {
            // It cannot fail, but if it has been rung as often as a counter counts.
            let _ = write(event, &1_u64.to_ne_bytes());
        }
    }

    /// The descriptor of the bell, for `body` to sleep with, which looks first whether the wait has ended; none, if there is none to be had.
    pub(crate) fn listen<R>(&self, body: impl FnOnce(Option<BorrowedFd<'_>>) -> R) -> R {
        if self.event.get().is_none()
            && let Ok(event) = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
        {
            let _ = self.event.set(event);
        }
        let event = self.event.get();
        self.listens.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let result = body(event.map(std::os::fd::AsFd::as_fd));
        self.listens.store(false, Ordering::Relaxed);
        // What it was rung for is over. A ring that comes later ends a later sleep for nothing.
        self.hush();
        result
    }

    /// It has been heard, and rings no more. What ended a wait is seen after this by whoever looks, if it was rung for that.
    pub(crate) fn hush(&self) {
        if let Some(event) = self.event.get() {
            let _ = read(event, &mut [0; 8]);
        }
    }

    /// Rings it as one does who has seen that the thread listens, and is late.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn ring_late(&self) {
        self.listens.store(true, Ordering::Relaxed);
        self.ring();
        self.listens.store(false, Ordering::Relaxed);
    }

    /// Whether it rings, and nobody has heard it.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn is_rung(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let event = self.event.get().expect("somebody has listened");
        poll(&mut [PollFd::new(event, PollFlags::IN)], Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) == Ok(1)
    }
}
