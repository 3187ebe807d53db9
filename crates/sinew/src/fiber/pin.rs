//! Guards that keep a fiber on its worker, or from suspending at all.
//!
//! # Safety
//!
//! Trusted with the pointer to the running fiber, and with a reference for each guard. A guard
//! needs one because it may outlive the fiber, for example in a coroutine that was suspended with
//! it.
#![expect(unsafe_code, reason = "the running fiber is a pointer")]

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::rc::Rc;

use crate::rt::{self, Control, impl_debug};

/// A guard that keeps a migratable fiber on its worker until it is dropped. Returned by [`pin`].
#[must_use = "the fiber may move again when this is dropped"]
pub struct Pin {
    /// # Invariant
    ///
    /// This value owns one reference to the fiber, and one of the fiber's pins.
    fiber: Option<NonNull<Control>>,
    stays: PhantomData<Rc<()>>,
}

/// Keeps the calling fiber on its worker until the returned guard is dropped. This has no effect on
/// fibers that do not migrate, and on plain threads.
///
/// The guard is not `Send`, so it is dropped on that worker:
///
/// ```compile_fail,E0277
/// let pin = sinew::fiber::pin();
/// sinew::fiber::spawn(move || drop(pin));
/// ```
///
/// A fiber stays on its worker for good if a guard is forgotten, or dropped by another fiber (which
/// is possible if a coroutine was suspended with the guard on its stack). In a function that is
/// called at a switch ([`on_suspend`](crate::RuntimeBuilder::on_suspend)) this pins nothing.
///
/// # Panics
///
/// Panics if the fiber has 2^29 pins that were not dropped.
#[track_caller]
pub fn pin() -> Pin {
    let fiber = running();
    if let Some(fiber) = fiber {
        // SAFETY: the fiber is running, so its block is alive.
        let is_added = unsafe { fiber.as_ref() }.pins.add();
        assert!(is_added, "a fiber has 536,870,912 pins: drop them instead of forgetting them");
        // SAFETY: the fiber is running, so its block is alive.
        unsafe { Control::add_ref(fiber) };
    }
    Pin { fiber, stays: PhantomData }
}

/// Returns the calling fiber, but not inside a function that is called at a switch. Such a function
/// is not part of the fiber that is switched, so it must not change what that fiber may do.
fn running() -> Option<NonNull<Control>> {
    rt::running().filter(|(local, _)| !local.in_switch_hook()).map(|(_, fiber)| fiber)
}

impl Drop for Pin {
    fn drop(&mut self) {
        if let Some(fiber) = self.fiber {
            // SAFETY: the invariant.
            unsafe { rt::unpin(fiber) };
            // SAFETY: the invariant; the reference is not used again, because this value is being
            // dropped.
            unsafe { Control::release(fiber) };
        }
    }
}

impl_debug!(Pin, ..);

/// Calls `body`, in which a wait panics. Use it for code that is wrong if another fiber runs on
/// this thread meanwhile, such as the first use of a `thread_local!`.
///
/// ```
/// sinew::run(|| {
///     let result = std::panic::catch_unwind(|| sinew::fiber::no_suspend(sinew::fiber::yield_now));
///     assert!(result.is_err());
/// });
/// ```
///
/// A call that succeeds at once, such as the lock of a free mutex, does not wait. While the fiber
/// unwinds, a wait blocks its worker instead of panicking. So does a wait while another fiber of
/// the same thread unwinds, because the two cannot be told apart.
///
/// # Panics
///
/// Panics if `body` panics or waits.
pub fn no_suspend<R>(body: impl FnOnce() -> R) -> R {
    let _until_it_ends = running().map(NoSuspend::begin);
    body()
}

/// A guard that counts as one reason not to suspend while it exists.
///
/// # Invariant
///
/// This value owns one reference to the fiber.
struct NoSuspend(NonNull<Control>);

impl NoSuspend {
    fn begin(fiber: NonNull<Control>) -> Self {
        // SAFETY: the fiber is running, so its block is alive.
        unsafe { Control::add_ref(fiber) };
        // SAFETY: as for the reference above, the fiber is running.
        unsafe { fiber.as_ref() }.forbid_suspend();
        Self(fiber)
    }
}

impl Drop for NoSuspend {
    fn drop(&mut self) {
        // SAFETY: the invariant.
        unsafe { self.0.as_ref() }.allow_suspend();
        // SAFETY: the invariant; the reference is not used again, because this value is being
        // dropped.
        unsafe { Control::release(self.0) };
    }
}
