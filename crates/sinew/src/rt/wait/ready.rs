//! Makes fibers ready to run, from any thread.
//!
//! # Safety
//!
//! Trusted with the right to run a fiber, which it passes to the fiber's scheduler.
#![expect(unsafe_code, reason = "fibers are pointers, and the right to run them is passed on")]

use std::ptr::NonNull;

use super::control::{Control, Status};
use super::tls;
use super::word::WakeAction;

/// Makes a fiber ready after a wait: it is scheduled where it may run.
///
/// # Safety
///
/// The caller has the right to run the fiber, and gives it up.
pub(crate) unsafe fn make_ready(control: NonNull<Control>) {
    // SAFETY: the right to run includes a reference.
    let this = unsafe { control.as_ref() };
    this.set_status(Status::Ready);
    match tls::worker_local().filter(|local| local.runs(this)) {
        Some(local) => {
            local.counters.wakes.add(1);
            let home = this.home();
            // SAFETY: the caller's right.
            local.schedule(unsafe { Control::task(control) }, home);
        }
        // SAFETY: as above.
        None => unsafe { make_ready_from_outside(control) },
    }
}

/// Makes a fiber ready, on a thread that is not one of the fiber's workers.
///
/// # Safety
///
/// As for [`make_ready`].
#[cold]
#[inline(never)]
unsafe fn make_ready_from_outside(control: NonNull<Control>) {
    // SAFETY: the right to run includes a reference.
    let this = unsafe { control.as_ref() };
    // SAFETY: the invariant of a control block: its scheduler lives until the fiber has ended.
    let scheduler = unsafe { this.scheduler().as_ref() };
    scheduler.outside.wakes.add_shared(1);
    // Cloned, since the fiber may run and end, and its scheduler with it, before this returns.
    let schedule = scheduler.get().clone();
    let placement = this.home().placement();
    // SAFETY: the caller's right.
    schedule.schedule(unsafe { Control::task(control) }, placement);
}

/// Ends the park of a fiber, or makes its next park return at once.
///
/// # Safety
///
/// The caller holds a reference to the fiber.
pub(crate) unsafe fn unpark(control: NonNull<Control>) {
    // SAFETY: the caller's reference.
    if unsafe { control.as_ref() }.word.unpark() == WakeAction::Schedule {
        // SAFETY: ending the wait of a saved fiber gives the right to run it.
        unsafe { make_ready(control) };
    }
}

/// Ends the wait that a fiber is in, if cancellation may end it.
///
/// # Safety
///
/// The caller holds a reference to the fiber.
pub(crate) unsafe fn poke(control: NonNull<Control>) {
    // SAFETY: the caller's reference.
    if unsafe { control.as_ref() }.word.poke() == Some(WakeAction::Schedule) {
        // SAFETY: ending the wait of a saved fiber gives the right to run it.
        unsafe { make_ready(control) };
    }
}
