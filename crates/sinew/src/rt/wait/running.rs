//! Which fiber a worker runs: written by the worker at each switch, read by any thread. Knows no
//! worker.

use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::control::Control;

/// The running fiber, if there is one.
#[derive(Debug)]
pub(crate) struct Running(AtomicPtr<Control>);

impl Running {
    pub(crate) fn none() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// Returns the running fiber. Called by the worker.
    #[inline]
    pub(crate) fn get(&self) -> Option<NonNull<Control>> {
        NonNull::new(self.0.load(Ordering::Relaxed))
    }

    /// Sets the running fiber. Called by the worker.
    #[inline]
    pub(crate) fn set(&self, fiber: Option<NonNull<Control>>) {
        // Release: pairs with the acquire of `seen`. A thread that sees the pointer sees the
        // fiber's properties.
        self.0.store(fiber.map_or(ptr::null_mut(), NonNull::as_ptr), Ordering::Release);
    }

    /// Returns the running fiber. Called by other threads. The fiber may have ended when this
    /// returns.
    pub(crate) fn seen(&self) -> Option<NonNull<Control>> {
        NonNull::new(self.0.load(Ordering::Acquire))
    }
}
