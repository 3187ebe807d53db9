//! The block of a fiber: its control block, and the fields that only spawning, running and ending
//! need.
//!
//! # Safety
//!
//! Trusted with casting a pointer to a control block to one to the whole block.
#![expect(unsafe_code, reason = "a pointer to the head is one to the whole")]

use std::cell::Cell;
use std::mem::offset_of;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sinew_sched::Vtable;

use super::roster::{Roamers, RosterLinks};
use super::scope::ScopeData;
use crate::rt::base::sync::AtomicBool;
use crate::rt::wait::{Birth, BodyVtable, Control, Scheduler};

/// The block of a fiber.
///
/// # Invariant
///
/// The control block is first, so that a pointer to it is a pointer to the whole. Every control
/// block is in such a block.
#[repr(C)]
pub(crate) struct FiberBlock {
    control: Control,
    /// The address of the fiber's host, from when the block is complete until the fiber is about to
    /// end. 0 otherwise, also while the block belongs to no fiber.
    ///
    /// # Invariant
    ///
    /// Accessed only by atomic operations from when the memory is first handed out, so that other
    /// threads may read it at any time.
    tag: AtomicUsize,
    pub(crate) links: RosterLinks,
    /// The scope that waits for the end of the fiber.
    pub(crate) scope: Option<Arc<ScopeData>>,
    /// The list that contains the fiber, if it may migrate and has begun.
    ///
    /// # Invariant
    ///
    /// Changed under the lock of that list, with the right to run the fiber. Lists live as long as
    /// the fiber's scheduler.
    pub(crate) roamers: Cell<Option<NonNull<Roamers>>>,
    /// Whether there is a coroutine: the fiber has begun, and has reached neither its end nor that
    /// of a step. Read by a holder of the right to run a fiber that will not run any more: it may
    /// have got that right while the fiber was about to be suspended, and must not touch the
    /// coroutine.
    pub(crate) has_stack: AtomicBool,
}

// SAFETY: the invariants of the fields that are not atomic pass them from one thread to the next.
unsafe impl Sync for FiberBlock {}

impl FiberBlock {
    /// Writes the block of a fiber, except its [tag](Self::complete).
    ///
    /// # Safety
    ///
    /// The memory is from [`memory::take`](crate::rt::base::memory::take), and the caller may write
    /// to it.
    #[inline]
    pub(crate) unsafe fn init(
        place: NonNull<Self>,
        birth: Birth,
        scope: Option<Arc<ScopeData>>,
        by: (NonNull<Scheduler>, &'static Vtable),
        body: &'static BodyVtable,
    ) {
        let place = place.cast();
        let control = Control::new(birth, by, body, scope.is_some());
        // Field by field, since other threads may read the tag meanwhile.
        // SAFETY: the caller's promise.
        unsafe { write_at(place, offset_of!(Self, control), control) };
        // SAFETY: as above.
        unsafe { write_at(place, offset_of!(Self, links), RosterLinks::default()) };
        // SAFETY: as above.
        unsafe { write_at(place, offset_of!(Self, scope), scope) };
        // SAFETY: as above.
        unsafe { write_at(place, offset_of!(Self, roamers), Cell::<Option<NonNull<Roamers>>>::new(None)) };
        // SAFETY: as above.
        unsafe { write_at(place, offset_of!(Self, has_stack), AtomicBool::new(false)) };
    }

    /// Lets other threads find the fiber among those of its host. Its block and body have been
    /// written.
    #[inline]
    pub(crate) fn complete(&self, host: NonNull<Scheduler>) {
        // Release: pairs with the acquire of `find`. A reader that finds the fiber sees its block.
        self.tag.store(host.addr().get(), Ordering::Release);
    }

    /// Hides the fiber from other threads: it is about to end.
    #[inline]
    pub(crate) fn hide(&self) {
        // Relaxed: the caller holds a lock that readers acquire too.
        self.tag.store(0, Ordering::Relaxed);
    }

    /// Returns the control block at this address, if it belongs to a fiber of this host that has
    /// not ended.
    ///
    /// # Safety
    ///
    /// It is the address of a block of [`memory`](crate::rt::base::memory), which is not freed
    /// meanwhile. No fiber of the host ends meanwhile.
    pub(crate) unsafe fn find(place: NonNull<u8>, host: NonNull<Scheduler>) -> Option<NonNull<Control>> {
        // SAFETY: the block is large enough.
        let tag = unsafe { place.byte_add(offset_of!(Self, tag)) }.cast::<AtomicUsize>();
        // SAFETY: the invariant of `tag`.
        let tag = unsafe { tag.as_ref() };
        // Acquire: pairs with the release of `complete`.
        (tag.load(Ordering::Acquire) == host.addr().get()).then(|| place.cast())
    }

    /// Returns the block of a fiber.
    ///
    /// # Safety
    ///
    /// The fiber's block lives as long as the returned reference is used.
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

/// Writes a value at an offset from an address.
///
/// # Safety
///
/// The memory there is large enough, and the caller may write to it.
#[inline]
pub(super) unsafe fn write_at<T>(place: NonNull<u8>, offset: usize, value: T) {
    // SAFETY: the caller's promise.
    let place = unsafe { place.byte_add(offset) };
    // SAFETY: as above.
    unsafe { place.cast::<T>().write(value) };
}
