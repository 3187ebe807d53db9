//! Handles to fibers.
//!
//! # Safety
//!
//! Trusted to cast a reference to the private type to one to the public type, which wraps it.
#![expect(unsafe_code, reason = "a wrapper is lent for what it wraps")]

use std::panic::Location;

use super::id::FiberId;
use crate::rt::{FiberRef, impl_debug};

/// A handle to a fiber, the counterpart of [`std::thread::Thread`]. On a plain thread,
/// [`current`](super::current()) returns a handle to that thread.
#[derive(Clone)]
#[repr(transparent)]
pub struct Fiber(FiberRef);

/// An alias of [`Fiber`], under the name of std.
pub type Thread = Fiber;

impl Fiber {
    pub(crate) fn new(fiber: FiberRef) -> Self {
        Self(fiber)
    }

    /// Casts a reference to the private handle to one to the public handle.
    pub(crate) fn wrap(fiber: &FiberRef) -> &Self {
        // SAFETY: `Fiber` is `repr(transparent)` over its only field.
        unsafe { &*(&raw const *fiber).cast::<Self>() }
    }

    pub(crate) fn inner(&self) -> &FiberRef {
        &self.0
    }

    /// Returns the fiber's unique identifier.
    #[must_use]
    pub fn id(&self) -> FiberId {
        FiberId::new(self.0.number())
    }

    /// Makes the fiber's current or next [`park`](super::park) return.
    pub fn unpark(&self) {
        self.0.unpark();
    }

    /// Returns the fiber's name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.0.name()
    }

    /// Returns the worker on which the fiber runs, or ran last. Returns `None` if the fiber has not
    /// begun, and for a plain thread.
    ///
    /// ```
    /// let runtime = sinew::Runtime::builder().workers(1).stack_size(1 << 18).start()?;
    /// let fiber = runtime.run(sinew::fiber::current);
    /// assert_eq!((fiber.worker(), fiber.stack_size()), (Some(0), Some(1 << 18)));
    /// assert_eq!(sinew::fiber::current().worker(), None);
    /// # Ok::<(), sinew::StartError>(())
    /// ```
    #[must_use]
    pub fn worker(&self) -> Option<usize> {
        self.0.worker()
    }

    /// Returns the minimum size of the fiber's stack, in bytes, or `None` for a plain thread.
    #[must_use]
    pub fn stack_size(&self) -> Option<usize> {
        self.0.birth().map(|birth| birth.stack_size)
    }

    /// Returns the place in the program that spawned the fiber, or `None` for a plain thread.
    #[must_use]
    pub fn spawned_at(&self) -> Option<&'static Location<'static>> {
        self.0.birth().map(|birth| birth.location)
    }
}

impl_debug!(Fiber, |fiber| { id: fiber.id(), name: fiber.name(), .. });
