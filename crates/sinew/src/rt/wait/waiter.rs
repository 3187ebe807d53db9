//! Whom to wake: a fiber or a thread, in one of its waits.
//!
//! # Safety
//!
//! Trusted with pointers to control blocks and threads' blocks: the holder of a [`Waiter`] knows
//! that the waiting side is still there, since it takes its waiter back before it goes on, or is
//! woken through it.
#![expect(unsafe_code, reason = "waiters are pointers")]

use std::ptr::NonNull;

use sinew_sched::prefetch;

use super::control::Control;
use super::thread_block::ThreadBlock;
use super::word::WaitId;

/// One wait of one fiber or thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiter {
    /// # Invariant
    ///
    /// There for as long as the wait is open, and the fiber or thread takes this value back or is
    /// woken before it goes on.
    pub(super) who: Who,
    pub(super) wait: WaitId,
    /// It comes with a reference to the fiber, for the waker that takes it: the fiber may go on
    /// without it.
    is_counted: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Who {
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

    /// The same with a reference, to be [released](Self::release) by the waker that takes it.
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

    /// Has the memory fetched that `wake` touches first.
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
}
