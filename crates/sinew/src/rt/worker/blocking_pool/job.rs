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
type CallbackFiber<'a> = dyn FnMut() + Send + 'a;

/// What is owned by whoever does it.
pub(super) trait Task: Send + Sync {
    /// Does it. Never unwinds.
    fn run(&self);

    /// It is done: tells whoever waits.
    fn tell(&self);
}

/// Something to be done. If it is dropped, whoever waits for it does so for ever.
pub(super) struct Job(Kind);

enum Kind {
    /// # Invariant
    ///
    /// There, and nobody else's, until the waiter is woken.
    Lent(NonNull<CallbackFiber<'static>>, Waiter),
    Given(Arc<dyn Task>),
}

// SAFETY: what is lent may be sent, by its type, and the invariant says that nobody else has it.
unsafe impl Send for Job {}

impl Job {
    /// One that the caller lends, who never unwinds from it.
    ///
    /// # Safety
    ///
    /// It stays where it is, and nobody else touches it, until the wait has ended; nothing but this job ends it; and if the caller never goes on
    /// after the wait, it stays for ever.
    pub(super) unsafe fn lent(call: NonNull<CallbackFiber<'_>>, waiter: Waiter) -> Self {
        // SAFETY: only the lifetime changes, and the caller promises what it stands for.
        let call =
            unsafe { mem::transmute::<NonNull<CallbackFiber<'_>>, NonNull<CallbackFiber<'static>>>(call) };
        Self(Kind::Lent(call, waiter))
    }

    pub(super) fn given(task: Arc<dyn Task>) -> Self {
        Self(Kind::Given(task))
    }

    /// Whether it is this one that was lent.
    pub(super) fn is(&self, call: NonNull<CallbackFiber<'_>>) -> bool {
        matches!(self.0, Kind::Lent(lent, _) if ptr::addr_eq(lent.as_ptr(), call.as_ptr()))
    }

    /// Does it.
    pub(super) fn run(self) -> Done {
        match self.0 {
            Kind::Lent(mut call, waiter) => {
                // SAFETY: the invariant.
                let call = unsafe { call.as_mut() };
                call();
                Done(Told::Waiter(waiter))
            }
            Kind::Given(task) => {
                task.run();
                Done(Told::Task(task))
            }
        }
    }
}

/// Something that was done, of which nobody has heard.
#[must_use = "somebody waits for it"]
pub(super) struct Done(Told);

enum Told {
    Waiter(Waiter),
    Task(Arc<dyn Task>),
}

impl Done {
    /// Tells whoever waits for it.
    pub(super) fn tell(self) {
        match self.0 {
            Told::Waiter(waiter) => {
                // SAFETY: whoever waits goes on only when it is woken, and only by this.
                unsafe { waiter.wake(Cause::Event) };
            }
            // What nobody wants any more is dropped with it, by a destructor of the user's.
            Told::Task(task) => unwind::catch(move || {
                task.tell();
                drop(task);
            }),
        }
    }
}

impl_debug!(Job, ..);
