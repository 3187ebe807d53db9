//! How many fibers of a scope have not ended, and who waits for that.
//!
//! # Safety
//!
//! Trusted with waking whoever waits: it does not go on before.
#![expect(unsafe_code, reason = "waiters are woken")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::wait;
use super::waiter::Waiter;
use super::word::{Cause, Ends};

/// The fibers of a scope.
#[derive(Debug, Default)]
pub(crate) struct ScopeData {
    running: AtomicUsize,
    has_panicked: AtomicBool,
    waiter: Mutex<Option<Waiter>>,
}

impl ScopeData {
    /// One more.
    pub(crate) fn join_in(&self) {
        // As for std's: nobody has that many.
        assert!(self.running.fetch_add(1, Ordering::Relaxed) < usize::MAX / 2, "too many fibers in a scope");
    }

    /// One less.
    pub(crate) fn leave(&self) {
        // Release: what the fiber did is seen by whoever waits.
        if self.running.fetch_sub(1, Ordering::Release) == 1
            && let Some(waiter) = self.lock().take()
        {
            // SAFETY: whoever waits goes on only when it is woken, and only through the waiter that was just taken.
            unsafe { waiter.wake(Cause::Event) };
        }
    }

    /// Waits until none is left. It does not unwind before: what the fibers borrow would be gone.
    pub(crate) fn wait(&self) {
        let abort = AbortOnUnwind;
        self.wait_or_unwind();
        std::mem::forget(abort);
    }

    fn wait_or_unwind(&self) {
        // Acquire: pairs with the release of `leave`.
        while self.running.load(Ordering::Acquire) != 0 {
            wait::wait(Ends::ByEvent, None, |waiter| {
                let mut slot = self.lock();
                let is_needed = self.running.load(Ordering::Acquire) != 0;
                *slot = is_needed.then_some(waiter);
                is_needed
            });
        }
    }

    /// A fiber panicked, and nobody has joined it.
    pub(crate) fn note_panic(&self) {
        self.has_panicked.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_panicked(&self) -> bool {
        self.has_panicked.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Waiter>> {
        self.waiter.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Aborts the process if it is dropped.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        std::process::abort();
    }
}
