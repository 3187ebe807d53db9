//! A slot: one value of one fiber or thread, and how many look at it. Knows no key.
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
//! Trusted with the value: it is there from *ready* on until it is dropped, which is not done while somebody looks at it.
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

/// The value was there, and is dropped; or the fiber or thread is past the end of its locals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gone;

/// The beginning of every slot. Only the fiber or thread that it belongs to touches it, and what runs on the same thread with a
/// part of that fiber's frames.
pub(super) struct Header {
    /// That of its key.
    number: NonZero<u32>,
    /// The next slot of those that have no place in the table itself.
    next: Cell<Option<NonNull<Header>>>,
    state: Cell<SlotState>,
    /// # Invariant
    ///
    /// How many [`Used`] there are that may outlive their fiber. While there are any, the slot is not freed, nor its value dropped.
    uses: Cell<usize>,
    /// The one that was initialised before this one.
    before: Cell<Option<NonNull<Header>>>,
    /// # Invariant
    ///
    /// There until the state is *gone*.
    table: NonNull<LocalsTable>,
    vtable: &'static LocalVtable,
}

struct LocalVtable {
    drop_value: unsafe fn(NonNull<Header>),
    free: unsafe fn(NonNull<Header>),
}

/// # Invariant
///
/// The header is first, so that a pointer to it is one to the whole.
#[repr(C)]
struct LocalSlot<T> {
    header: Header,
    /// # Invariant
    ///
    /// A value once the initialiser has returned, until it is dropped.
    value: UnsafeCell<MaybeUninit<T>>,
}

impl<T> LocalSlot<T> {
    const VTABLE: &'static LocalVtable = &LocalVtable { drop_value: Self::drop_value, free: Self::free };

    unsafe fn drop_value(header: NonNull<Header>) {
        // SAFETY: called through the vtable, for a slot of this type.
        let slot = unsafe { header.cast::<Self>().as_ref() };
        // SAFETY: called once, for a slot that was ready and that nobody looks at.
        let value = unsafe { &mut *slot.value.get() };
        // SAFETY: as above: there is a value.
        unsafe { value.assume_init_drop() };
    }

    unsafe fn free(header: NonNull<Header>) {
        // SAFETY: called through the vtable, for a slot of this type that nobody has any more; made
        // by `make`.
        unsafe { memory::free(header.cast::<Self>()) };
    }
}

/// Makes a slot for the key with this number, and for a table.
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
/// The slot is there, and not linked.
pub(super) unsafe fn link(header: NonNull<Header>, next: Option<NonNull<Header>>) -> NonNull<Header> {
    // SAFETY: the caller's promise.
    unsafe { header.as_ref() }.next.set(next);
    header
}

/// The number of the key that a slot was made for, and the slot that is linked behind it.
///
/// # Safety
///
/// The slot is there.
pub(super) unsafe fn number_and_next(header: NonNull<Header>) -> (NonZero<u32>, Option<NonNull<Header>>) {
    // SAFETY: the caller's promise.
    let this = unsafe { header.as_ref() };
    (this.number, this.next.get())
}

/// Puts a slot before the newest one.
///
/// # Safety
///
/// The slot is there.
pub(super) unsafe fn set_before(header: NonNull<Header>, before: Option<NonNull<Header>>) {
    // SAFETY: the caller's promise.
    unsafe { header.as_ref() }.before.set(before);
}

/// The slot that was initialised before this one.
///
/// # Safety
///
/// The slot is there.
pub(super) unsafe fn before(header: NonNull<Header>) -> Option<NonNull<Header>> {
    // SAFETY: the caller's promise.
    unsafe { header.as_ref() }.before.take()
}

/// The value of a slot that is ready goes, unless it is in use: then it stays for ever.
///
/// # Safety
///
/// The slot is there and ready.
pub(super) unsafe fn end_value(header: NonNull<Header>) {
    // SAFETY: the caller's promise.
    let this = unsafe { header.as_ref() };
    let before = this.state.replace(SlotState::Gone);
    debug_assert_eq!(before, SlotState::Ready, "only values that are there are dropped");
    if this.uses.get() == 0 {
        // SAFETY: it was ready, is not any more, and nobody looks at it.
        unsafe { (this.vtable.drop_value)(header) };
    }
}

/// The slot goes, unless it is in use: then it stays for ever.
///
/// # Safety
///
/// The slot is there, its value has ended or needs no drop, and the caller gives it up.
pub(super) unsafe fn end(header: NonNull<Header>) {
    // SAFETY: the caller's promise.
    let this = unsafe { header.as_ref() };
    this.state.set(SlotState::Gone);
    if this.uses.get() == 0 {
        // SAFETY: nobody looks at it, and the caller gives it up.
        unsafe { (this.vtable.free)(header) };
    }
}

/// A slot that was found for a key.
pub(super) struct FoundLocal<T> {
    /// # Invariant
    ///
    /// There, and a slot of `T`.
    slot: NonNull<LocalSlot<T>>,
}

impl<T> FoundLocal<T> {
    /// # Safety
    ///
    /// The slot is there, and was made for `T`.
    pub(super) unsafe fn new(header: NonNull<Header>) -> Self {
        Self { slot: header.cast() }
    }

    /// The value, if it is there.
    #[inline]
    pub(super) fn used_if_ready(self, frame: Frame) -> Option<Used<T>> {
        // SAFETY: the invariant of `slot`.
        let is_ready = unsafe { self.slot.as_ref() }.header.state.get() == SlotState::Ready;
        is_ready.then(|| Used::new(self, frame))
    }

    /// The value, which `init` makes if there is none.
    pub(super) fn used_or_init(self, frame: Frame, init: impl FnOnce() -> T) -> Result<Used<T>, Gone> {
        Used::new(self, frame).prepare(init)
    }
}

/// Where whoever looks at a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// On the stack of the fiber that the value belongs to: it is done before the fiber is.
    Within,
    /// Perhaps on another one: a coroutine of the user's may keep the reference for longer.
    Anywhere,
}

/// The right to look at a value, which stays for as long as this is there.
pub(crate) struct Used<T> {
    /// # Invariant
    ///
    /// Counted in `uses`, or in a frame of the fiber, so it is there; and it has a value, but for the stretch in `init`.
    slot: NonNull<LocalSlot<T>>,
    frame: Frame,
    /// It belongs to a fiber, and is counted without atomics.
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
        // SAFETY: nobody else looks at the value of a slot that is being made.
        unsafe { (*self.slot().value.get()).write(value) };
        self.made();
        self
    }

    /// The value is there. It is dropped at the end, unless that has passed: an initialiser may have gone on in a coroutine
    /// that outlived the fiber.
    fn made(&self) {
        let header = self.header();
        if header.state.get() != SlotState::BeingMade {
            return;
        }
        header.state.set(SlotState::Ready);
        // What needs no drop can be used until the very end, as std has it.
        if mem::needs_drop::<T>() {
            // SAFETY: the slot is not gone, so its table is there.
            unsafe { header.table.as_ref() }.made(self.slot.cast());
        }
    }
}

/// Lets another call try, if an initialiser unwinds.
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
        // SAFETY: the value is written before the first reference to it, and dropped after the last.
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
