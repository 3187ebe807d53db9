//! Makes fibers ready to run, from anywhere.
//!
//! # Safety
//!
//! Trusted with the right to run a fiber: it goes to the fiber's scheduler.
#![expect(unsafe_code, reason = "fibers are pointers, and the right to run them is passed on")]

use std::ptr::NonNull;

use super::control::{Control, Status};
use super::tls;
use super::word::WakeAction;

/// Makes a fiber ready that has waited: it runs again, where it may.
///
/// # Safety
///
/// The caller has the right to run the fiber, and gives it up.
pub(crate) unsafe fn make_ready(control: NonNull<Control>) {
    // SAFETY: the right to run is a reference.
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

/// The same, on a thread that is none of the fiber's workers.
///
/// # Safety
///
/// As [`make_ready`].
#[cold]
#[inline(never)]
unsafe fn make_ready_from_outside(control: NonNull<Control>) {
    // SAFETY: the right to run is a reference.
    let this = unsafe { control.as_ref() };
    // SAFETY: the invariant of a block: its scheduler is there until the fiber is done.
    let scheduler = unsafe { this.scheduler().as_ref() };
    scheduler.outside.wakes.add_shared(1);
    // The fiber may run and end, and its scheduler with it, before this returns.
    let schedule = scheduler.get().clone();
    let placement = this.home().placement();
    // SAFETY: the caller's right.
    schedule.schedule(unsafe { Control::task(control) }, placement);
}

/// Ends the park of a fiber, or makes its next park return at once.
///
/// # Safety
///
/// The caller has a reference.
pub(crate) unsafe fn unpark(control: NonNull<Control>) {
    // SAFETY: the caller's reference.
    if unsafe { control.as_ref() }.word.unpark() == WakeAction::Schedule {
        // SAFETY: ending the wait of a saved fiber is the right to run it.
        unsafe { make_ready(control) };
    }
}

/// Ends the wait that a fiber is in, if cancellation may.
///
/// # Safety
///
/// The caller has a reference.
pub(crate) unsafe fn poke(control: NonNull<Control>) {
    // SAFETY: the caller's reference.
    if unsafe { control.as_ref() }.word.poke() == Some(WakeAction::Schedule) {
        // SAFETY: ending the wait of a saved fiber is the right to run it.
        unsafe { make_ready(control) };
    }
}
