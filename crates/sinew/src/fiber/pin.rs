//! Staying: on a worker, or without suspending at all.
//!
//! # Safety
//!
//! Trusted with the running fiber, and with a reference for each guard: what holds one may outlive the fiber, such as a coroutine
//! that was suspended with it.
#![expect(unsafe_code, reason = "the running fiber is a pointer")]

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::rc::Rc;

use crate::rt::{self, Control, impl_debug};

/// Keeps a fiber that may move on its worker, until this value is dropped. Returned by [`pin`].
#[must_use = "the fiber may move again when this is dropped"]
pub struct Pin {
    /// # Invariant
    ///
    /// A reference of this value's own, and one of the fiber's pins.
    fiber: Option<NonNull<Control>>,
    stays: PhantomData<Rc<()>>,
}

/// Keeps the calling fiber on its worker until the returned value is dropped. Fibers that do not move stay anyway, and so do
/// threads.
///
/// The value cannot be sent away, so it is dropped on that worker:
///
/// ```compile_fail,E0277
/// let pin = sinew::fiber::pin();
/// sinew::fiber::spawn(move || drop(pin));
/// ```
///
/// A fiber stays on its worker for good if a pin is forgotten, or dropped by another fiber (which takes a coroutine that was
/// suspended with the pin on its stack). A function that is called at a switch
/// ([`on_suspend`](crate::RuntimeBuilder::on_suspend)) pins nothing.
///
/// # Panics
///
/// If the fiber has 2^29 pins that were not dropped.
#[track_caller]
pub fn pin() -> Pin {
    let fiber = running();
    if let Some(fiber) = fiber {
        // SAFETY: it runs, so it is there.
        let is_added = unsafe { fiber.as_ref() }.pins.add();
        assert!(is_added, "a fiber has 536,870,912 pins: drop them instead of forgetting them");
        // SAFETY: it runs, so it is there.
        unsafe { Control::add_ref(fiber) };
    }
    Pin { fiber, stays: PhantomData }
}

/// The fiber whose code the caller is. A function that is called at a switch is not the fiber that is switched: what it does
/// must not change what that fiber may do.
fn running() -> Option<NonNull<Control>> {
    rt::running().filter(|(local, _)| !local.in_switch_hook()).map(|(_, fiber)| fiber)
}

impl Drop for Pin {
    fn drop(&mut self) {
        if let Some(fiber) = self.fiber {
            // SAFETY: the invariant.
            unsafe { rt::unpin(fiber) };
            // SAFETY: the invariant; this value is gone after this.
            unsafe { Control::release(fiber) };
        }
    }
}

impl_debug!(Pin, ..);

/// Calls `body`, in which a wait panics. For code that would go wrong if another fiber ran on this thread meanwhile, such as the
/// first use of a `thread_local!`.
///
/// ```
/// sinew::run(|| {
///     let result = std::panic::catch_unwind(|| sinew::fiber::no_suspend(sinew::fiber::yield_now));
///     assert!(result.is_err());
/// });
/// ```
///
/// A call that finds what it wants, such as the lock of a free mutex, does not wait. A wait of a
/// fiber that already unwinds blocks its worker instead. So does a wait on a thread where another
/// fiber unwinds: the two cannot be told apart.
///
/// # Panics
///
/// If `body` does, or waits.
pub fn no_suspend<R>(body: impl FnOnce() -> R) -> R {
    let _until_it_ends = running().map(NoSuspend::begin);
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
