//! The block of a fiber: its control block, and what only those know that spawn, run and end it.
//!
//! # Safety
//!
//! Trusted with taking a control block for the head of such a block.
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

/// The block.
///
/// # Invariant
///
/// The control block is first, so that a pointer to it is one to the whole. Every control block is
/// in such a block.
#[repr(C)]
pub(crate) struct FiberBlock {
    control: Control,
    /// The address of the fiber's host, from when the block is complete until the fiber is about to
    /// end; 0 otherwise, also while the block is no fiber's.
    ///
    /// # Invariant
    ///
    /// Accessed by atomic operations alone from when the memory is first handed out, so that others
    /// may read it at any time.
    tag: AtomicUsize,
    pub(crate) links: RosterLinks,
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

// SAFETY: fields that are not atomic are under their invariants, which pass them from one thread to
// the next.
unsafe impl Sync for FiberBlock {}

impl FiberBlock {
    /// Writes the block of a fiber, all but its [tag](Self::complete).
    ///
    /// # Safety
    ///
    /// The memory is from [`memory::take`](crate::rt::base::memory::take), and the caller's to
    /// write.
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
        // Not the whole at once: the tag may be read meanwhile.
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

    /// Lets others find the fiber, whose block and body are written, among those of its host.
    #[inline]
    pub(crate) fn complete(&self, host: NonNull<Scheduler>) {
        // Release: a reader that finds the fiber sees its block.
        self.tag.store(host.addr().get(), Ordering::Release);
    }

    /// Hides the fiber from others: it is about to end.
    #[inline]
    pub(crate) fn hide(&self) {
        // Relaxed: the caller holds a lock that those pass who look.
        self.tag.store(0, Ordering::Relaxed);
    }

    /// The control block at this address, if a fiber of this host is there that has not ended.
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

/// Writes a value behind an address.
///
/// # Safety
///
/// There is room for it there, and it is the caller's to write.
#[inline]
pub(super) unsafe fn write_at<T>(place: NonNull<u8>, offset: usize, value: T) {
    // SAFETY: the caller's promise.
    let place = unsafe { place.byte_add(offset) };
    // SAFETY: as above.
    unsafe { place.cast::<T>().write(value) };
}
