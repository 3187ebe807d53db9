//! Handles to fibers.
//!
//! # Safety
//!
//! Trusted with taking a private reference for a public one, which wraps it.
#![expect(unsafe_code, reason = "a wrapper is lent for what it wraps")]

use std::panic::Location;

use super::id::FiberId;
use crate::rt::{FiberRef, impl_debug};

/// A handle to a fiber, as [`std::thread::Thread`] is one to a thread. Outside of fibers,
/// [`current`](super::current()) returns one to the calling thread.
#[derive(Clone)]
#[repr(transparent)]
pub struct Fiber(FiberRef);

/// [`Fiber`], under the name that std has for it.
pub type Thread = Fiber;

impl Fiber {
    pub(crate) fn new(fiber: FiberRef) -> Self {
        Self(fiber)
    }

    /// Lends the public handle for a private one.
    pub(crate) fn wrap(fiber: &FiberRef) -> &Self {
        // SAFETY: it has one field, and is transparent.
        unsafe { &*(&raw const *fiber).cast::<Self>() }
    }

    pub(crate) fn inner(&self) -> &FiberRef {
        &self.0
    }

    /// Its number, which no other fiber ever has.
    #[must_use]
    pub fn id(&self) -> FiberId {
        FiberId::new(self.0.number())
    }

    /// Makes the fiber's present or next [`park`](super::park) return.
    pub fn unpark(&self) {
        self.0.unpark();
    }

    /// The name it was given.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.0.name()
    }

    /// The worker that it runs on, or ran on last; none if it has not begun, nor of plain threads.
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

    /// How much stack it has at least, in bytes; not known of plain threads.
    #[must_use]
    pub fn stack_size(&self) -> Option<usize> {
        self.0.birth().map(|birth| birth.stack_size)
    }

    /// Where in the program it was made; not known of plain threads.
    #[must_use]
    pub fn spawned_at(&self) -> Option<&'static Location<'static>> {
        self.0.birth().map(|birth| birth.location)
    }
}

impl_debug!(Fiber, |fiber| { id: fiber.id(), name: fiber.name(), .. });
