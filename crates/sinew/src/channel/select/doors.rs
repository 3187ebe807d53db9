//! The queues that a select waits in: one for each of its operations.
//!
//! # Safety
//!
//! Trusted with ports: a select slot is used by the port that it is of.
#![expect(unsafe_code, reason = "select_slots are lent to queues")]

use super::arm::Arm;
use super::port::{Port, SelectSlot};
use crate::rt::{Door, Entered, Stay, Waiter};

/// Waits to do an operation.
pub(super) struct Seated<'a> {
    pub(super) arm: Arm<'a>,
    owner: *const (),
    pub(super) select_slot: SelectSlot,
}

impl<'a> Seated<'a> {
    pub(super) fn new(arm: Arm<'a>) -> Self {
        Self { arm, owner: std::ptr::null(), select_slot: SelectSlot::new() }
    }

    /// Makes the select slot ready, which stays where it is from now on. All select slots of a
    /// select have the same owner.
    pub(super) fn prepare(&mut self, owner: *const ()) {
        self.owner = owner;
        self.arm.port.prepare(&self.select_slot, owner);
    }
}

impl Door for Seated<'_> {
    unsafe fn enter(&self, waiter: Waiter) -> Entered {
        // SAFETY: the caller's promise; the select slot is this port's.
        unsafe { self.arm.port.enter(&self.select_slot, waiter, self.owner) }
    }

    fn leave(&self) -> bool {
        // SAFETY: the select slot is this port's.
        unsafe { self.arm.port.leave(&self.select_slot) }
    }
}

/// Waits until an operation can be done, and does not do it.
pub(super) struct Watching<'a> {
    port: &'a dyn Port,
    stay: Stay<()>,
}

impl<'a> Watching<'a> {
    pub(super) fn new(port: &'a dyn Port) -> Self {
        Self { port, stay: Stay::new(()) }
    }
}

impl Door for Watching<'_> {
    unsafe fn enter(&self, waiter: Waiter) -> Entered {
        // SAFETY: the caller's promise; it is this port's.
        unsafe { self.port.enter_to_watch(&self.stay, waiter) }
    }

    fn leave(&self) -> bool {
        // SAFETY: it is this port's.
        unsafe { self.port.leave_watching(&self.stay) };
        false
    }
}
