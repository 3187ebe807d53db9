//! Fibers as tasks: the one place that relies on every task of a host being a fiber.
//!
//! If there are tasks of another kind, such as futures, they are told apart here, by the vtable of
//! their header.

use std::ptr::NonNull;

use sinew_sched::Header;

use crate::rt::wait::Control;

/// Returns the fiber of a task.
#[inline(always)]
pub(super) fn fiber_of(task: NonNull<Header>) -> NonNull<Control> {
    task.cast()
}
