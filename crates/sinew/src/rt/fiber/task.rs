//! Fibers as tasks: the one place that says that every task of a host is a fiber.
//!
//! When tasks of another kind come, such as futures, this is where they are told apart: by the
//! vtable of their header.

use std::ptr::NonNull;

use sinew_sched::Header;

use crate::rt::wait::Control;

/// The fiber that a task of a host is.
#[inline(always)]
pub(super) fn fiber_of(task: NonNull<Header>) -> NonNull<Control> {
    task.cast()
}
