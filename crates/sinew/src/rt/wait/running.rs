//! Which fiber a worker runs: written by the worker at each switch, read by anyone. Knows no worker.

use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::control::Control;

/// The fiber, or none.
#[derive(Debug)]
pub(crate) struct Running(AtomicPtr<Control>);

impl Running {
    pub(crate) fn none() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    /// For the worker.
    #[inline]
    pub(crate) fn get(&self) -> Option<NonNull<Control>> {
        NonNull::new(self.0.load(Ordering::Relaxed))
    }

    /// For the worker.
    #[inline]
    pub(crate) fn set(&self, fiber: Option<NonNull<Control>>) {
        // Release: what the fiber was made with is seen by whoever sees the pointer.
        self.0.store(fiber.map_or(ptr::null_mut(), NonNull::as_ptr), Ordering::Release);
    }

    /// For others. The fiber may have ended by the time that this returns.
    pub(crate) fn seen(&self) -> Option<NonNull<Control>> {
        NonNull::new(self.0.load(Ordering::Acquire))
    }
}
