//! Something to be done by a thread that may block, and whom to tell when it is done. Knows no thread.
//!
//! # Safety
//!
//! Trusted with what a fiber lends that waits: it is on the fiber's stack. That is sound for two reasons. The wait has no other end than being told:
//! neither time nor a cancel ends it, and [`Done::tell`] comes after the last use. And if the fiber is abandoned at a shutdown, its stack stays as it
//! is for ever, with all that it borrows: a scope around it never returns.
#![expect(unsafe_code, reason = "what is lent is a pointer, and waiters are woken")]

use std::mem;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::rt::base::{impl_debug, unwind};
use crate::rt::wait::{Cause, Waiter};

/// What a fiber lends.
type BlockingCall<'a> = dyn FnMut() + Send + 'a;

/// What is owned by whoever does it.
pub(super) trait Task: Send + Sync {
    /// Does it. Never unwinds.
    fn run(&self);

    /// It is done: tells whoever waits.
    fn tell(&self);
}

/// Something to be done. If it is dropped, whoever waits for it does so for ever.
pub(super) struct BlockingJob(JobKind);

enum JobKind {
    /// # Invariant
    ///
    /// There, and nobody else's, until the waiter is woken.
    Lent(NonNull<BlockingCall<'static>>, Waiter),
    Given(Arc<dyn Task>),
}

// SAFETY: what is lent may be sent, by its type, and the invariant says that nobody else has it.
unsafe impl Send for BlockingJob {}

impl BlockingJob {
    /// One that the caller lends, who never unwinds from it.
    ///
    /// # Safety
    ///
    /// It stays where it is, and nobody else touches it, until the wait has ended; nothing but this job ends it; and if the caller never goes on
    /// after the wait, it stays for ever.
    pub(super) unsafe fn lent(call: NonNull<BlockingCall<'_>>, waiter: Waiter) -> Self {
        // SAFETY: only the lifetime changes, and the caller promises what it stands for.
        let call =
            unsafe { mem::transmute::<NonNull<BlockingCall<'_>>, NonNull<BlockingCall<'static>>>(call) };
        Self(JobKind::Lent(call, waiter))
    }

    pub(super) fn given(task: Arc<dyn Task>) -> Self {
        Self(JobKind::Given(task))
    }

    /// Whether it is this one that was lent.
    pub(super) fn is(&self, call: NonNull<BlockingCall<'_>>) -> bool {
        matches!(self.0, JobKind::Lent(lent, _) if ptr::addr_eq(lent.as_ptr(), call.as_ptr()))
    }

    /// Does it.
    pub(super) fn run(self) -> Done {
        match self.0 {
            JobKind::Lent(mut call, waiter) => {
                // SAFETY: the invariant.
                let call = unsafe { call.as_mut() };
                call();
                Done(JobReport::Waiter(waiter))
            }
            JobKind::Given(task) => {
                task.run();
                Done(JobReport::Task(task))
            }
        }
    }
}

/// Something that was done, of which nobody has heard.
#[must_use = "somebody waits for it"]
pub(super) struct Done(JobReport);

enum JobReport {
    Waiter(Waiter),
    Task(Arc<dyn Task>),
}

impl Done {
    /// Tells whoever waits for it.
    pub(super) fn tell(self) {
        match self.0 {
            JobReport::Waiter(waiter) => {
                // SAFETY: whoever waits goes on only when it is woken, and only by this.
                unsafe { waiter.wake(Cause::Event) };
            }
            // What nobody wants any more is dropped with it, by a destructor of the user's.
            JobReport::Task(task) => unwind::catch(move || {
                task.tell();
                drop(task);
            }),
        }
    }
}

impl_debug!(BlockingJob, ..);
