//! What a waker wakes: a fiber or a thread, in one of its waits.
//!
//! # Safety
//!
//! Trusted with pointers to control blocks and blocks of threads. The holder of a [`Waiter`] knows
//! that the waiting fiber or thread still exists: it takes its waiter back before it continues, or
//! is woken through it.
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
    /// The block lives while the wait is open. The fiber or thread takes this value back, or is
    /// woken through it, before it continues.
    pub(super) who: Who,
    pub(super) wait: WaitId,
    /// This value carries a reference to the fiber, for the waker that takes it: the fiber may
    /// continue without waiting for that waker.
    is_counted: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Who {
    Fiber(NonNull<Control>),
    Thread(NonNull<ThreadBlock>),
}

// SAFETY: both kinds of blocks are shared between threads.
unsafe impl Send for Waiter {}

impl Waiter {
    pub(crate) fn fiber(control: NonNull<Control>, wait: WaitId) -> Self {
        Self { who: Who::Fiber(control), wait, is_counted: false }
    }

    pub(crate) fn thread(block: &'static ThreadBlock, wait: WaitId) -> Self {
        Self { who: Who::Thread(NonNull::from(block)), wait, is_counted: false }
    }

    /// Returns the same waiter with a reference to its fiber. The waker that takes it
    /// [releases](Self::release) the reference.
    pub(crate) fn counted(self) -> Self {
        if let Who::Fiber(control) = self.who {
            // SAFETY: the fiber waits, so its control block is alive.
            unsafe { Control::add_ref(control) };
        }
        Self { is_counted: true, ..self }
    }

    /// Releases the reference, if this value carries one.
    pub(crate) fn release(self) {
        if let (Who::Fiber(control), true) = (self.who, self.is_counted) {
            // SAFETY: this is the reference that `counted` added.
            unsafe { Control::release(control) };
        }
    }

    /// Prefetches the memory that `wake` touches first.
    #[inline]
    pub(crate) fn prefetch(&self) {
        match self.who {
            // The header and the word lie in two cache lines.
            Who::Fiber(control) => {
                prefetch(control.as_ptr().cast::<u8>());
                prefetch(control.as_ptr().cast::<u8>().wrapping_add(64));
            }
            Who::Thread(_) => {}
        }
    }
}
