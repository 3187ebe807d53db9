//! Staying: on a worker, or without suspending at all.
//!
//! # Safety
//!
//! Trusted with the running fiber, and with a reference for each guard: what holds one may outlive the fiber, such as a coroutine
//! that was suspended with it.
#![expect(unsafe_code, reason = "the running fiber is a pointer")]

use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::rc::Rc;

use crate::rt::{self, Control};

/// Keeps a fiber that may move where it is, until it is dropped.
#[must_use = "the fiber may move again when this is dropped"]
pub struct Pin {
    /// # Invariant
    ///
    /// A reference of this value's own.
    fiber: Option<NonNull<Control>>,
    stays: PhantomData<Rc<()>>,
}

/// Keeps the calling fiber on its worker until the value that this returns is dropped. Fibers that do not move stay anyway.
///
/// The value cannot be sent away, so it is dropped on that worker:
///
/// ```compile_fail,E0277
/// let pin = sinew::fiber::pin();
/// sinew::fiber::spawn(move || drop(pin));
/// ```
///
/// # Panics
///
/// If a billion of them were forgotten instead of dropped.
pub fn pin() -> Pin {
    let fiber = rt::running().map(|(_, fiber)| fiber);
    if let Some(fiber) = fiber {
        // SAFETY: it runs, so it is there.
        unsafe { fiber.as_ref() }.pins.add();
        // SAFETY: as above.
        unsafe { Control::add_ref(fiber) };
    }
    Pin { fiber, stays: PhantomData }
}

impl Drop for Pin {
    fn drop(&mut self) {
        if let Some(fiber) = self.fiber {
            // SAFETY: the invariant.
            unsafe { fiber.as_ref() }.pins.remove();
            // SAFETY: as above; this value is gone after this.
            unsafe { Control::release(fiber) };
        }
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pin").finish_non_exhaustive()
    }
}

/// Runs something that must not suspend: a wait inside panics. For code that would go wrong if another fiber ran on this
/// thread meanwhile, such as the first use of a `thread_local!`.
///
/// ```
/// sinew::run(|| {
///     let result = std::panic::catch_unwind(|| sinew::fiber::no_suspend(sinew::fiber::yield_now));
///     assert!(result.is_err());
/// });
/// ```
///
/// # Panics
///
/// If `body` does, or waits.
pub fn no_suspend<R>(body: impl FnOnce() -> R) -> R {
    let _until_it_ends = rt::running().map(|(_, fiber)| NoSuspend::begin(fiber));
    body()
}

/// Counts one reason not to suspend, for as long as it is there.
///
/// # Invariant
///
/// It has a reference of its own.
struct NoSuspend(NonNull<Control>);

impl NoSuspend {
    fn begin(fiber: NonNull<Control>) -> Self {
        // SAFETY: it runs, so it is there.
        unsafe { Control::add_ref(fiber) };
        // SAFETY: as above.
        unsafe { fiber.as_ref() }.forbid_suspend();
        Self(fiber)
    }
}

impl Drop for NoSuspend {
    fn drop(&mut self) {
        // SAFETY: the invariant.
        unsafe { self.0.as_ref() }.allow_suspend();
        // SAFETY: the invariant; this value is gone after this.
        unsafe { Control::release(self.0) };
    }
}
