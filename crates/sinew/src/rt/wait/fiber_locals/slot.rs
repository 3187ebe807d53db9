//! A slot: one value of one fiber or thread, and the count of its users. Knows no key.
//!
//! | from | by | to |
//! | --- | --- | --- |
//! | new | the first use | being made |
//! | being made | the initialiser returns | ready |
//! | being made | it panics | new |
//! | ready | the end | gone: the value is dropped, or leaked if it is in use |
//! | new, being made | the end | gone |
//!
//! # Safety
//!
//! Trusted with the value: it exists from *ready* on until it is dropped, and it is not dropped
//! while it is in use.
#![expect(unsafe_code, reason = "values of many types behind one kind of pointer")]

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::{self, MaybeUninit};
use std::num::NonZero;
use std::ops::Deref;
use std::ptr::NonNull;

use super::memory;
use super::table::LocalsTable;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotState {
    New,
    BeingMade,
    Ready,
    Gone,
}

/// The value was dropped, or the fiber or thread is past the end of its locals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gone;

/// The beginning of every slot. Touched only by the fiber or thread that owns it, and by code on
/// the same thread that runs with a part of that fiber's frames.
pub(super) struct Header {
    /// The number of its key.
    number: NonZero<u32>,
    /// The next slot in the list of slots that have no place in the table itself.
    next: Cell<Option<NonNull<Header>>>,
    state: Cell<SlotState>,
    /// # Invariant
    ///
    /// The count of [`Used`] values that may outlive their fiber. While it is not zero, neither the
    /// slot is freed nor its value dropped.
    uses: Cell<usize>,
    /// The slot that was initialised before this one.
    before: Cell<Option<NonNull<Header>>>,
    /// # Invariant
    ///
    /// Alive until the state is *gone*.
    table: NonNull<LocalsTable>,
    vtable: &'static LocalVtable,
}

struct LocalVtable {
    drop_value: unsafe fn(NonNull<Header>),
    free: unsafe fn(NonNull<Header>),
}

/// # Invariant
///
/// The header is first, so that a pointer to it is a pointer to the whole.
#[repr(C)]
struct LocalSlot<T> {
    header: Header,
    /// # Invariant
    ///
    /// Initialised from the return of the initialiser until it is dropped.
    value: UnsafeCell<MaybeUninit<T>>,
}

impl<T> LocalSlot<T> {
    const VTABLE: &'static LocalVtable = &LocalVtable { drop_value: Self::drop_value, free: Self::free };

    unsafe fn drop_value(header: NonNull<Header>) {
        // SAFETY: called through the vtable, for a slot of this type.
        let slot = unsafe { header.cast::<Self>().as_ref() };
        // SAFETY: called once, for a slot that was ready and is not in use.
        let value = unsafe { &mut *slot.value.get() };
        // SAFETY: as above: the value is initialised.
        unsafe { value.assume_init_drop() };
    }

    unsafe fn free(header: NonNull<Header>) {
        // SAFETY: called through the vtable, for a slot of this type that is not in use; made by
        // `make`.
        unsafe { memory::free(header.cast::<Self>()) };
    }
}

/// Makes a slot for a table and the key with this number.
pub(super) fn make<T>(number: NonZero<u32>, table: NonNull<LocalsTable>) -> NonNull<Header> {
    let header = Header {
        number,
        next: Cell::new(None),
        state: Cell::new(SlotState::New),
        uses: Cell::new(0),
        before: Cell::new(None),
        table,
        vtable: LocalSlot::<T>::VTABLE,
    };
    let slot = LocalSlot::<T> { header, value: UnsafeCell::new(MaybeUninit::uninit()) };
    memory::leak(slot).cast()
}

/// Links a slot in front of others, and returns the first of all.
///
/// # Safety
///
/// The slot is alive, and not linked.
pub(super) unsafe fn link(header: NonNull<Header>, next: Option<NonNull<Header>>) -> NonNull<Header> {
    // SAFETY: the caller's promise.
    unsafe { header.as_ref() }.next.set(next);
    header
}

/// Returns the number of the key that a slot was made for, and the slot that is linked behind it.
///
/// # Safety
///
/// The slot is alive.
pub(super) unsafe fn number_and_next(header: NonNull<Header>) -> (NonZero<u32>, Option<NonNull<Header>>) {
    // SAFETY: the caller's promise.
    let this = unsafe { header.as_ref() };
    (this.number, this.next.get())
}

/// Sets the slot that was initialised before this one.
///
/// # Safety
///
/// The slot is alive.
pub(super) unsafe fn set_before(header: NonNull<Header>, before: Option<NonNull<Header>>) {
    // SAFETY: the caller's promise.
    unsafe { header.as_ref() }.before.set(before);
}

/// Takes the slot that was initialised before this one.
///
/// # Safety
///
/// The slot is alive.
pub(super) unsafe fn before(header: NonNull<Header>) -> Option<NonNull<Header>> {
    // SAFETY: the caller's promise.
    unsafe { header.as_ref() }.before.take()
}

/// Drops the value of a ready slot, unless it is in use: then it is leaked.
///
/// # Safety
///
/// The slot is alive and ready.
pub(super) unsafe fn end_value(header: NonNull<Header>) {
    // SAFETY: the caller's promise.
    let this = unsafe { header.as_ref() };
    let before = this.state.replace(SlotState::Gone);
    debug_assert_eq!(before, SlotState::Ready, "only ready values are dropped");
    if this.uses.get() == 0 {
        // SAFETY: the slot was ready, is not any more, and is not in use.
        unsafe { (this.vtable.drop_value)(header) };
    }
}

/// Frees a slot, unless it is in use: then it is leaked.
///
/// # Safety
///
/// The slot is alive, its value has ended or needs no drop, and the caller gives the slot up.
pub(super) unsafe fn end(header: NonNull<Header>) {
    // SAFETY: the caller's promise.
    let this = unsafe { header.as_ref() };
    this.state.set(SlotState::Gone);
    if this.uses.get() == 0 {
        // SAFETY: the slot is not in use, and the caller gives it up.
        unsafe { (this.vtable.free)(header) };
    }
}

/// A slot that was found for a key.
pub(super) struct FoundLocal<T> {
    /// # Invariant
    ///
    /// Alive, and a slot of `T`.
    slot: NonNull<LocalSlot<T>>,
}

impl<T> FoundLocal<T> {
    /// # Safety
    ///
    /// The slot is alive, and was made for `T`.
    pub(super) unsafe fn new(header: NonNull<Header>) -> Self {
        Self { slot: header.cast() }
    }

    /// Returns the value, if there is one.
    #[inline]
    pub(super) fn used_if_ready(self, frame: Frame) -> Option<Used<T>> {
        // SAFETY: the invariant of `slot`.
        let is_ready = unsafe { self.slot.as_ref() }.header.state.get() == SlotState::Ready;
        is_ready.then(|| Used::new(self, frame))
    }

    /// Returns the value. If there is none, `init` makes it.
    pub(super) fn used_or_init(self, frame: Frame, init: impl FnOnce() -> T) -> Result<Used<T>, Gone> {
        Used::new(self, frame).prepare(init)
    }
}

/// Where the frame is that uses a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// On the stack of the fiber that owns the value: it returns before the fiber ends.
    Within,
    /// Perhaps on another stack: a user's coroutine may keep the reference for longer.
    Anywhere,
}

/// The right to use a value, which stays valid while this exists.
pub(crate) struct Used<T> {
    /// # Invariant
    ///
    /// Counted in `uses`, or in a frame of the fiber, so the slot is alive. It has a value, except
    /// during `init`.
    slot: NonNull<LocalSlot<T>>,
    frame: Frame,
    /// It belongs to a fiber, and is counted without atomics, so it is not `Send`.
    stays: PhantomData<*const T>,
}

impl<T> Used<T> {
    #[inline]
    fn new(FoundLocal { slot }: FoundLocal<T>, frame: Frame) -> Self {
        let used = Self { slot, frame, stays: PhantomData };
        if frame == Frame::Anywhere {
            let uses = &used.header().uses;
            uses.set(uses.get() + 1);
        }
        used
    }

    #[inline]
    fn slot(&self) -> &LocalSlot<T> {
        // SAFETY: the invariant.
        unsafe { self.slot.as_ref() }
    }

    #[inline]
    fn header(&self) -> &Header {
        &self.slot().header
    }

    /// Makes the value, if there is none yet.
    fn prepare(self, init: impl FnOnce() -> T) -> Result<Self, Gone> {
        match self.header().state.get() {
            SlotState::Ready => Ok(self),
            SlotState::Gone => Err(Gone),
            SlotState::New => Ok(self.init(init)),
            SlotState::BeingMade => {
                panic!(
                    "a fiber-local is used by its own initialiser: it has no value before that has returned"
                )
            }
        }
    }

    fn init(self, init: impl FnOnce() -> T) -> Self {
        self.header().state.set(SlotState::BeingMade);
        let on_unwind = Unmade(&self);
        let value = init();
        mem::forget(on_unwind);
        // SAFETY: no other code uses the value of a slot that is being made.
        unsafe { (*self.slot().value.get()).write(value) };
        self.made();
        self
    }

    /// Marks the value as ready. It is dropped at the end, unless that has passed: an initialiser
    /// may have continued in a coroutine that outlived the fiber.
    fn made(&self) {
        let header = self.header();
        if header.state.get() != SlotState::BeingMade {
            return;
        }
        header.state.set(SlotState::Ready);
        // A value that needs no drop stays usable until the very end, as in std.
        if mem::needs_drop::<T>() {
            // SAFETY: the slot is not gone, so its table is alive.
            unsafe { header.table.as_ref() }.made(self.slot.cast());
        }
    }
}

/// Lets another call try again if an initialiser unwinds.
struct Unmade<'a, T>(&'a Used<T>);

impl<T> Drop for Unmade<'_, T> {
    fn drop(&mut self) {
        let state = &self.0.header().state;
        if state.get() == SlotState::BeingMade {
            state.set(SlotState::New);
        }
    }
}

impl<T> Deref for Used<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the value is written before the first reference to it, and dropped after the
        // last.
        let value = unsafe { &*self.slot().value.get() };
        // SAFETY: the invariant of `slot`: there is a value.
        unsafe { value.assume_init_ref() }
    }
}

impl<T> Drop for Used<T> {
    #[inline]
    fn drop(&mut self) {
        if self.frame == Frame::Anywhere {
            let uses = &self.header().uses;
            uses.set(uses.get() - 1);
        }
    }
}
