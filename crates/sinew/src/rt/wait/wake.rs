//! Wakes waiters: ends their waits, and lets them continue.
//!
//! # Safety
//!
//! Trusted with pointers to control blocks and threads' blocks, as [`waiter`](super::waiter), and
//! with the right to run a fiber whose wait it has ended.
#![expect(unsafe_code, reason = "waiters are pointers")]

use std::ptr::NonNull;

use super::control::Control;
use super::home::Home;
use super::ready::make_ready;
use super::thread_block::ThreadBlock;
use super::waiter::{Waiter, Who};
use super::word::{Cause, WakeAction};
use super::worker_local::WorkerLocal;

impl Waiter {
    /// Returns the waiting fiber if it can only continue on the caller's thread, and does not run
    /// there any more.
    ///
    /// # Safety
    ///
    /// As for [`wake`](Self::wake). `local` belongs to the caller's thread.
    pub(crate) unsafe fn fiber_of(self, local: &WorkerLocal) -> Option<NonNull<Control>> {
        let Who::Fiber(control) = self.who else { return None };
        // SAFETY: the caller's promise, and the invariant of `who`.
        let this = unsafe { control.as_ref() };
        let is_here = local.runs(this) && this.home() == Home::Worker(local.worker());
        (is_here && local.fiber() != Some(control)).then_some(control)
    }

    /// Returns whether the waiter is a fiber that can only continue on a worker other than the
    /// caller's.
    ///
    /// # Safety
    ///
    /// As for [`claim`](Self::claim). `local` belongs to the caller's thread.
    pub(crate) unsafe fn is_elsewhere(self, local: &WorkerLocal) -> bool {
        let Who::Fiber(control) = self.who else { return false };
        // SAFETY: the caller's promise, and the invariant of `who`.
        let this = unsafe { control.as_ref() };
        !local.runs(this) || matches!(this.home(), Home::Worker(worker) if worker != local.worker())
    }

    /// Ends the wait and wakes the waiter. Returns false if the wait has ended already.
    ///
    /// # Safety
    ///
    /// As for [`claim`](Self::claim).
    #[inline]
    pub(crate) unsafe fn wake(self, cause: Cause) -> bool {
        // SAFETY: the caller's promise.
        let claimed = unsafe { self.claim(cause) };
        claimed.map(Claimed::go).is_some()
    }

    /// Ends the wait, and leaves waking the waiter to the caller. Returns `None` if the wait has
    /// ended already.
    ///
    /// # Safety
    ///
    /// The waiting fiber or thread cannot have taken this value back and continued: the caller
    /// holds a lock that it has to acquire for that, or an equivalent.
    #[inline]
    pub(crate) unsafe fn claim(self, cause: Cause) -> Option<Claimed> {
        match self.who {
            // SAFETY: the caller's promise, and the invariant of `who`.
            Who::Fiber(control) => match unsafe { control.as_ref() }.word.end(self.wait, cause)? {
                WakeAction::Schedule => Some(Claimed(Side::Fiber(control))),
                WakeAction::Nothing => Some(Claimed(Side::Awake)),
            },
            Who::Thread(block) => {
                // SAFETY: as above.
                unsafe { block.as_ref() }.end(self.wait, cause).then_some(Claimed(Side::Thread(block)))
            }
        }
    }
}

/// A fiber or thread whose wait was ended. It continues when [`go`](Self::go) is called.
#[must_use = "the claimed side waits for it"]
#[derive(Debug)]
pub(crate) struct Claimed(Side);

#[derive(Debug)]
enum Side {
    /// # Invariant
    ///
    /// The fiber is saved, or on its way to the only worker that may run it again. This value owns
    /// the right to run it.
    Fiber(NonNull<Control>),
    /// # Invariant
    ///
    /// The thread does not continue before it is woken, and its block is never freed.
    Thread(NonNull<ThreadBlock>),
    /// A fiber whose registers were not saved yet. Its worker runs it again.
    Awake,
}

// SAFETY: the right to run a fiber may be passed to another thread, and blocks of threads are
// shared.
unsafe impl Send for Claimed {}

impl Claimed {
    /// Wakes the fiber or thread.
    #[inline]
    pub(crate) fn go(self) {
        match self.0 {
            // SAFETY: the invariant of `Side::Fiber`. The right to run the fiber is given up.
            Side::Fiber(control) => unsafe { make_ready(control) },
            // SAFETY: the invariant of `Side::Thread`.
            Side::Thread(block) => unsafe { block.as_ref() }.wake(),
            Side::Awake => {}
        }
    }
}
