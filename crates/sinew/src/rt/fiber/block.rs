//! The block of a fiber: its control block, and what only those know that spawn, run and end it.
//!
//! # Safety
//!
//! Trusted with taking a control block for the head of such a block.
#![expect(unsafe_code, reason = "a pointer to the head is one to the whole")]

use std::cell::Cell;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use sinew_sched::Vtable;

use super::roster::{Links, Roamers};
use super::scope::ScopeData;
use crate::rt::base::sync::AtomicBool;
use crate::rt::wait::control::{Birth, BodyVtable, Control};
use crate::rt::wait::schedule::Scheduler;

/// The block.
///
/// # Invariant
///
/// The control block is first, so that a pointer to it is one to the whole. Every control block is
/// in such a block.
#[repr(C)]
pub(crate) struct FiberBlock {
    control: Control,
    pub(crate) links: Links,
    /// The scope that waits for the end of the fiber.
    pub(crate) scope: Option<Arc<ScopeData>>,
    /// The list that the fiber is in, if it may move and has begun.
    ///
    /// # Invariant
    ///
    /// Changed under the lock of that list, with the right to run the fiber. Lists stay for as long
    /// as the fiber's scheduler.
    pub(crate) roamers: Cell<Option<NonNull<Roamers>>>,
    /// There is a coroutine: the fiber has begun, and has come neither to its end nor to that of a
    /// step. For holders of the right to run a fiber that will not run any more: they may have got
    /// that right while the fiber was about to be suspended, and must not touch the coroutine.
    pub(crate) has_stack: AtomicBool,
}

// SAFETY: fields that are not atomic are under their invariants, which pass them from one thread to the next.
unsafe impl Sync for FiberBlock {}

impl FiberBlock {
    #[inline]
    pub(crate) fn new(
        birth: Birth,
        scope: Option<Arc<ScopeData>>,
        by: (NonNull<Scheduler>, &'static Vtable),
        body: &'static BodyVtable,
    ) -> Self {
        Self {
            control: Control::new(birth, by, body, scope.is_some()),
            links: Links::default(),
            scope,
            roamers: Cell::new(None),
            has_stack: AtomicBool::new(false),
        }
    }

    /// The block of a fiber.
    ///
    /// # Safety
    ///
    /// The fiber's block is there for as long as the result is used.
    #[inline]
    pub(crate) unsafe fn of<'a>(control: NonNull<Control>) -> &'a Self {
        // SAFETY: the caller's promise, and the type's invariant.
        unsafe { control.cast::<Self>().as_ref() }
    }
}

impl Deref for FiberBlock {
    type Target = Control;

    #[inline]
    fn deref(&self) -> &Control {
        &self.control
    }
}
