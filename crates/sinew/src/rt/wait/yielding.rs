//! Letting other fibers run, without a wait.
//!
//! # Safety
//!
//! Trusted with the running fiber.
#![expect(unsafe_code, reason = "the running fiber is a pointer")]

use std::ptr::NonNull;

use super::control::{Control, Pause};
use super::suspend::{NO_SUSPEND, can_suspend, running, suspend};
use super::worker_local::WorkerLocal;

/// Lets other fibers run. Does nothing while the caller is known to unwind, or where it must not
/// suspend and may be unwinding.
///
/// # Panics
///
/// If the fiber must not suspend, and its thread does not unwind.
#[inline]
pub(crate) fn yield_now(local: &WorkerLocal, control: NonNull<Control>) {
    // SAFETY: the fiber runs, so its control block is alive.
    let this = unsafe { control.as_ref() };
    if !can_suspend(local, this) {
        return yield_unusually(local, this);
    }
    suspend(this, Pause::Yield);
}

#[cold]
fn yield_unusually(local: &WorkerLocal, this: &Control) {
    let may_suspend = !local.in_switch_hook() && this.may_suspend();
    // A second panic would abort the process.
    assert!(may_suspend || std::thread::panicking(), "{NO_SUSPEND}");
    if may_suspend && !local.must_hold_worker() {
        yield_here(this);
    }
}

/// Lets other fibers run, and continues on the same worker.
#[cold]
fn yield_here(this: &Control) {
    let is_pinned = this.pins.add();
    suspend(this, Pause::Yield);
    if is_pinned {
        this.pins.remove();
    }
}

/// Lets other fibers run, if the caller is a fiber that can suspend now. Returns whether it did.
pub(crate) fn give_way() -> bool {
    let Some((local, control)) = running() else { return false };
    // SAFETY: the fiber runs, so its control block is alive.
    let this = unsafe { control.as_ref() };
    if local.in_switch_hook() || local.must_hold_worker() || !this.may_suspend() {
        return false;
    }
    match std::thread::panicking() {
        false => suspend(this, Pause::Yield),
        true => yield_here(this),
    }
    true
}
