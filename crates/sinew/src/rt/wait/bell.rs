//! Wakes a plain thread that sleeps in the kernel for a descriptor, through a second descriptor.
//! Knows no wait.
//!
//! The thread sets `listens`, and then checks whether its wait has ended. The waker ends the wait,
//! and then checks `listens`. Both sides have a fence in between, so at least one of them sees what
//! the other did.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, fence};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{read, write};

/// The wake-up descriptor of a thread.
#[derive(Debug)]
pub(crate) struct Bell {
    listens: AtomicBool,
    /// `None` if no descriptor could be created. Created when it is first needed, and kept.
    event: OnceLock<OwnedFd>,
}

impl Bell {
    pub(crate) fn new() -> Self {
        Self { listens: AtomicBool::new(false), event: OnceLock::new() }
    }

    /// Wakes the thread if it listens. The caller has already ended the wait.
    #[inline]
    pub(crate) fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.listens.load(Ordering::Relaxed)
            && let Some(event) = self.event.get()
        {
            // Fails only if the counter is full, and then the descriptor is readable anyway.
            let _ = write(event, &1_u64.to_ne_bytes());
        }
    }

    /// Calls `body` with the descriptor to sleep on, or `None` if none could be created. `body`
    /// first checks whether the wait has ended.
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
        // The wait is over, so discard its signal. A late signal ends a later sleep for nothing.
        self.hush();
        result
    }

    /// Discards pending signals. If there was one for the end of a wait, the caller sees that end
    /// afterwards.
    pub(crate) fn hush(&self) {
        if let Some(event) = self.event.get() {
            let _ = read(event, &mut [0; 8]);
        }
    }

    /// Signals as a late waker does that has seen the thread listen.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn ring_late(&self) {
        self.listens.store(true, Ordering::Relaxed);
        self.ring();
        self.listens.store(false, Ordering::Relaxed);
    }

    /// Returns whether a signal is pending.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn is_rung(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let event = self.event.get().expect("the thread has listened before");
        poll(&mut [PollFd::new(event, PollFlags::IN)], Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) == Ok(1)
    }
}
