//! The queues in which a select waits, one for each operation.
//!
//! # Safety
//!
//! Trusted with ports: a select slot is used only by the port to which it belongs.
#![expect(unsafe_code, reason = "select_slots are lent to queues")]

use super::arm::Arm;
use super::port::{Port, SelectSlot};
use crate::rt::{Door, Entered, Stay, Waiter};

/// An operation whose select waits to do it.
pub(super) struct Seated<'a> {
    pub(super) arm: Arm<'a>,
    owner: *const (),
    pub(super) select_slot: SelectSlot,
}

impl<'a> Seated<'a> {
    pub(super) fn new(arm: Arm<'a>) -> Self {
        Self { arm, owner: std::ptr::null(), select_slot: SelectSlot::new() }
    }

    /// Prepares the select slot, which is not moved any more. All select slots of one select have
    /// the same owner.
    pub(super) fn prepare(&mut self, owner: *const ()) {
        self.owner = owner;
        self.arm.port.prepare(&self.select_slot, owner);
    }
}

impl Door for Seated<'_> {
    unsafe fn enter(&self, waiter: Waiter) -> Entered {
        // SAFETY: the caller's promise; the select slot belongs to this port.
        unsafe { self.arm.port.enter(&self.select_slot, waiter, self.owner) }
    }

    fn leave(&self) -> bool {
        // SAFETY: the select slot belongs to this port.
        unsafe { self.arm.port.leave(&self.select_slot) }
    }
}

/// An operation whose select waits until it is possible, without doing it.
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
        // SAFETY: the caller's promise; the stay belongs to this port.
        unsafe { self.port.enter_to_watch(&self.stay, waiter) }
    }

    fn leave(&self) -> bool {
        // SAFETY: the stay belongs to this port.
        unsafe { self.port.leave_watching(&self.stay) };
        false
    }
}
