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
    /// The fiber that waits, if it goes on on the caller's thread and nowhere else, and has let go
    /// of it.
    ///
    /// # Safety
    ///
    /// As for [`wake`](Self::wake); the argument is the caller's thread's own.
    pub(crate) unsafe fn fiber_of(self, local: &WorkerLocal) -> Option<NonNull<Control>> {
        let Who::Fiber(control) = self.who else { return None };
        // SAFETY: the caller's promise, and the invariant of `who`.
        let this = unsafe { control.as_ref() };
        let is_here = local.runs(this) && this.home() == Home::Worker(local.worker());
        (is_here && local.fiber() != Some(control)).then_some(control)
    }

    /// Whether it is a fiber that goes on on another worker than the caller's, and nowhere else.
    ///
    /// # Safety
    ///
    /// As for [`claim`](Self::claim); the argument is the caller's thread's own.
    pub(crate) unsafe fn is_elsewhere(self, local: &WorkerLocal) -> bool {
        let Who::Fiber(control) = self.who else { return false };
        // SAFETY: the caller's promise, and the invariant of `who`.
        let this = unsafe { control.as_ref() };
        !local.runs(this) || matches!(this.home(), Home::Worker(worker) if worker != local.worker())
    }

    /// Ends the wait; false, if it has ended.
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

    /// Ends the wait, and leaves it to the caller to have the waiting side go on; none, if it has
    /// ended.
    ///
    /// # Safety
    ///
    /// The waiting side cannot have taken this value back and gone on: the caller holds whatever it
    /// would have to pass.
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

/// A side whose wait was ended, and that goes on when this says so.
#[must_use = "the claimed side waits for it"]
#[derive(Debug)]
pub(crate) struct Claimed(Side);

#[derive(Debug)]
enum Side {
    /// # Invariant
    ///
    /// Saved, or on its way to the worker that alone may run it again: the right to run it is this
    /// value's.
    Fiber(NonNull<Control>),
    /// # Invariant
    ///
    /// It does not go on before it is woken, and the block is never freed.
    Thread(NonNull<ThreadBlock>),
    /// A fiber that was not saved yet: it goes on by itself.
    Awake,
}

// SAFETY: the right to run a fiber may be passed on, and threads' blocks are shared.
unsafe impl Send for Claimed {}

impl Claimed {
    /// Has it go on.
    #[inline]
    pub(crate) fn go(self) {
        match self.0 {
            // SAFETY: the invariant of `Side::Fiber`, whose right is given up.
            Side::Fiber(control) => unsafe { make_ready(control) },
            // SAFETY: the invariant of `Side::Thread`.
            Side::Thread(block) => unsafe { block.as_ref() }.wake(),
            Side::Awake => {}
        }
    }
}
