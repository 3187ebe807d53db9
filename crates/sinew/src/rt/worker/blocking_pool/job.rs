//! A job for a thread that may block, and the waiter for its end. Knows no thread.
//!
//! # Safety
//!
//! Trusted with a closure that a waiting fiber lends: it is on the fiber's stack. That is sound for
//! two reasons. Nothing but [`Done::tell`] ends the wait, neither time nor a cancel, and that is
//! called after the last use. And if the fiber is abandoned at a shutdown, its stack stays as it is
//! for ever, with everything that it borrows: a scope around it never returns.
#![expect(unsafe_code, reason = "what is lent is a pointer, and waiters are woken")]

use std::mem;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::rt::base::{impl_debug, unwind};
use crate::rt::wait::{Cause, Waiter};

/// A closure that a fiber lends.
type BlockingCall<'a> = dyn FnMut() + Send + 'a;

/// A job that owns its data.
pub(super) trait Task: Send + Sync {
    /// Runs the job. Never unwinds.
    fn run(&self);

    /// Wakes the waiter, after the job is done.
    fn tell(&self);
}

/// A job. If it is dropped without running, its waiter waits for ever.
pub(super) struct BlockingJob(JobKind);

enum JobKind {
    /// # Invariant
    ///
    /// The closure is alive, and no other code uses it, until the waiter is woken.
    Lent(NonNull<BlockingCall<'static>>, Waiter),
    Given(Arc<dyn Task>),
}

// SAFETY: the type of a lent closure is `Send`, and by the invariant no other code uses it.
unsafe impl Send for BlockingJob {}

impl BlockingJob {
    /// Returns a job that runs a closure of the caller. The closure never unwinds.
    ///
    /// # Safety
    ///
    /// Until the wait has ended, the closure stays where it is and no other code touches it.
    /// Nothing but this job ends the wait. If the caller never continues after the wait, the
    /// closure stays for ever.
    pub(super) unsafe fn lent(call: NonNull<BlockingCall<'_>>, waiter: Waiter) -> Self {
        // SAFETY: only the lifetime changes, and the caller promises what it stands for.
        let call =
            unsafe { mem::transmute::<NonNull<BlockingCall<'_>>, NonNull<BlockingCall<'static>>>(call) };
        Self(JobKind::Lent(call, waiter))
    }

    pub(super) fn given(task: Arc<dyn Task>) -> Self {
        Self(JobKind::Given(task))
    }

    /// Returns whether this job runs the given lent closure.
    pub(super) fn is(&self, call: NonNull<BlockingCall<'_>>) -> bool {
        matches!(self.0, JobKind::Lent(lent, _) if ptr::addr_eq(lent.as_ptr(), call.as_ptr()))
    }

    /// Runs the job.
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

/// A job that is done, and whose waiter was not woken yet.
#[must_use = "a fiber waits for it"]
pub(super) struct Done(JobReport);

enum JobReport {
    Waiter(Waiter),
    Task(Arc<dyn Task>),
}

impl Done {
    /// Wakes the waiter.
    pub(super) fn tell(self) {
        match self.0 {
            JobReport::Waiter(waiter) => {
                // SAFETY: the waiting fiber continues only when it is woken, and nothing else wakes
                // it.
                unsafe { waiter.wake(Cause::Event) };
            }
            // A result that is not wanted any more is dropped with the task, by a user's
            // destructor.
            JobReport::Task(task) => unwind::catch(move || {
                task.tell();
                drop(task);
            }),
        }
    }
}

impl_debug!(BlockingJob, ..);
