//! Whom to wake: a fiber or a thread, in one of its waits.
//!
//! # Safety
//!
//! Trusted with pointers to control blocks and threads' blocks: whoever holds a [`Waiter`] knows that the waiting side is still
//! there, since it takes its waiter back before it goes on, or is woken through it.
#![expect(unsafe_code, reason = "waiters are pointers")]

use std::ptr::NonNull;

use sinew_sched::prefetch;

use super::control::Control;
use super::local::Local;
use super::target::Home;
use super::thread_block::ThreadBlock;
use super::word::{Cause, Next, WaitId};

/// One wait of one fiber or thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiter {
    /// # Invariant
    ///
    /// There for as long as the wait is open, and the fiber or thread takes this value back or is woken before it goes on.
    who: Who,
    wait: WaitId,
    /// It comes with a reference to the fiber, for whoever takes it: the fiber may go on without it.
    is_counted: bool,
}

#[derive(Clone, Copy, Debug)]
enum Who {
    Fiber(NonNull<Control>),
    Thread(NonNull<ThreadBlock>),
}

// SAFETY: both kinds of block are shared between threads.
unsafe impl Send for Waiter {}

impl Waiter {
    pub(crate) fn fiber(control: NonNull<Control>, wait: WaitId) -> Self {
        Self { who: Who::Fiber(control), wait, is_counted: false }
    }

    pub(crate) fn thread(block: &'static ThreadBlock, wait: WaitId) -> Self {
        Self { who: Who::Thread(NonNull::from(block)), wait, is_counted: false }
    }

    /// The same with a reference, to be [released](Self::release) by whoever takes it.
    pub(crate) fn counted(self) -> Self {
        if let Who::Fiber(control) = self.who {
            // SAFETY: the fiber that waits is there.
            unsafe { Control::add_ref(control) };
        }
        Self { is_counted: true, ..self }
    }

    /// Gives the reference up, if there is one.
    pub(crate) fn release(self) {
        if let (Who::Fiber(control), true) = (self.who, self.is_counted) {
            // SAFETY: it is the one of `counted`.
            unsafe { Control::release(control) };
        }
    }

    /// Has the memory fetched that [`wake`](Self::wake) touches first.
    #[inline]
    pub(crate) fn prefetch(&self) {
        match self.who {
            // Header and word lie in two lines.
            Who::Fiber(control) => {
                prefetch(control.as_ptr().cast::<u8>());
                prefetch(control.as_ptr().cast::<u8>().wrapping_add(64));
            }
            Who::Thread(_) => {}
        }
    }

    /// The fiber that waits, if it goes on on the caller's thread and nowhere else, and has let go of it.
    ///
    /// # Safety
    ///
    /// As for [`wake`](Self::wake); the argument is the caller's thread's own.
    pub(crate) unsafe fn fiber_of(self, local: &Local) -> Option<NonNull<Control>> {
        let Who::Fiber(control) = self.who else { return None };
        // SAFETY: the caller's promise, and the invariant of `who`.
        let this = unsafe { control.as_ref() };
        let is_here = local.is_of(this.engine()) && this.home() == Home::Worker(local.worker());
        (is_here && local.fiber() != Some(control)).then_some(control)
    }

    /// Whether it is a fiber that goes on on another worker than the caller's, and nowhere else.
    ///
    /// # Safety
    ///
    /// As for [`claim`](Self::claim); the argument is the caller's thread's own.
    pub(crate) unsafe fn is_elsewhere(self, local: &Local) -> bool {
        let Who::Fiber(control) = self.who else { return false };
        // SAFETY: the caller's promise, and the invariant of `who`.
        let this = unsafe { control.as_ref() };
        !local.is_of(this.engine()) || matches!(this.home(), Home::Worker(worker) if worker != local.worker())
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

    /// Ends the wait, and leaves it to the caller to have the waiting side go on; none, if it has ended.
    ///
    /// # Safety
    ///
    /// The waiting side cannot have taken this value back and gone on: the caller holds whatever it would have to pass.
    #[inline]
    pub(crate) unsafe fn claim(self, cause: Cause) -> Option<Claimed> {
        match self.who {
            // SAFETY: the caller's promise, and the invariant of `who`.
            Who::Fiber(control) => match unsafe { control.as_ref() }.word.end(self.wait, cause)? {
                Next::Schedule => Some(Claimed(Side::Fiber(control))),
                Next::Nothing => Some(Claimed(Side::Awake)),
            },
            Who::Thread(block) => {
                // SAFETY: as above.
                unsafe { block.as_ref() }.end(self.wait, cause).then_some(Claimed(Side::Thread(block)))
            }
        }
    }
}

/// A side whose wait was ended, and that goes on when this says so.
#[must_use = "whoever was claimed waits for it"]
#[derive(Debug)]
pub(crate) struct Claimed(Side);

#[derive(Debug)]
enum Side {
    /// # Invariant
    ///
    /// Saved, or on its way to the worker that alone may run it again: the right to run it is this value's.
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
            Side::Fiber(control) => unsafe { Control::schedule(control) },
            // SAFETY: the invariant of `Side::Thread`.
            Side::Thread(block) => unsafe { block.as_ref() }.wake(),
            Side::Awake => {}
        }
    }
}
