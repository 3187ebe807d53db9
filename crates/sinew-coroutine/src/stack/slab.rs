//! A slab: one mapping cut into stacks of one class. Knows its memory, not which stacks are in use.
//!
//! ```text
//!   start                                    stride
//!   |                                          |
//!   +-------+------------------------+--------+-------+--- ...
//!   | guard | usable bytes           | colour | guard |
//!   +-------+------------------------+--------+-------+--- ...
//!           ^ limit                  ^ top, at one of 16 places in the last page
//! ```
//!
//! Each slot has one page more than its class, which makes room for the colors, so that no stack
//! has fewer bytes than its class.
//!
//! # Safety
//!
//! Trusted with one mapping, which lives as long as the slab, and with the address arithmetic of
//! its parts.
#![expect(unsafe_code, reason = "memory is mapped, guarded and given back")]

use core::mem::ManuallyDrop;
use core::ops::Deref;
use core::ptr::NonNull;
use std::io;

use super::boxed::try_box;
use super::few::Few;
use super::guard::GuardKind;
use super::headroom;
use super::refused;
use super::registry::{Area, Registered, registry};
use super::size::SizeClass;
use super::slot::Slot;
use super::sys::{self, Range};

/// The offset between the tops of neighboring stacks within their page. It puts their most used
/// lines into different sets of the cache.
const COLOUR: usize = 128;

/// The number of different offsets. The largest offset leaves half of the page to a shallow stack,
/// which then needs no second page.
const COLOURS: usize = 16;

/// The largest size of a slab, unless a single stack is larger.
const LARGEST_SLAB: usize = 64 * 1024 * 1024;

/// Whether a slab may take the address space that stacks leave to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// The slab may not take it.
    Usual,
    /// The slab may take it.
    Urgent,
}

/// The layout of a slab.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) class: SizeClass,
    guard: usize,
    stride: usize,
}

impl Shape {
    /// Returns the layout for stacks of a class with this number of guard pages. If a page is
    /// larger than the class, a stack gets one page.
    pub(super) fn new(class: SizeClass, guard_pages: usize, page: usize) -> Self {
        let above = class.bytes().next_multiple_of(page) + page;
        // The pages that fibers touch most lie one stride apart. If the stride is an even number of
        // pages, they share a few sets of the translation cache: 1,000 of them do not fit then,
        // although the cache has room for more.
        let guard =
            guard_pages * page + if (guard_pages + above / page).is_multiple_of(2) { page } else { 0 };
        Self { class, guard, stride: guard + above }
    }

    /// Returns the most stacks that a slab of this shape has.
    pub(super) fn most_slots(&self) -> usize {
        (LARGEST_SLAB / self.stride).max(1)
    }
}

/// The address of a slab's pool. Only the pool itself can use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PoolAddress(pub(super) NonNull<()>);

/// A stack of a slab, without ownership. One word, so that it travels in a register.
///
/// # Invariant
///
/// Points to the slot of a slab that outlives this value. If there are several copies, one of them
/// is the owner.
#[derive(Clone, Copy)]
pub(crate) struct RawStack(NonNull<Slot>);

// SAFETY: memory and slots belong to no thread. The owner of the value decides which code uses
// them.
unsafe impl Send for RawStack {}
// SAFETY: a shared reference only gives addresses.
unsafe impl Sync for RawStack {}

impl RawStack {
    #[inline]
    pub(super) fn slot(&self) -> &Slot {
        // SAFETY: the type's invariant.
        unsafe { self.0.as_ref() }
    }

    #[inline]
    pub(super) fn slab(&self) -> &Slab {
        // SAFETY: the type's invariant: its slab is alive.
        unsafe { self.slot().slab.as_ref() }
    }

    /// Returns all usable memory, including the part above the top that the color leaves unused.
    pub(super) fn memory(&self) -> Range {
        let shape = self.slab().shape;
        (self.slot().limit, shape.stride - shape.guard)
    }
}

/// A mapping cut into stacks.
pub(crate) struct Slab {
    /// # Invariant
    ///
    /// A whole mapping that this value owns.
    memory: Range,
    pub(super) shape: Shape,
    /// The number by which the pool finds this slab.
    pub(super) number: usize,
    /// The pool, which outlives the slab.
    pub(super) pool: PoolAddress,
    slots: Box<[Slot]>,
    /// Removed from the registry before the memory is unmapped.
    registered: Option<Registered>,
}

// SAFETY: its parts are shared memory with rules of its own (`Slot`), or do not change.
unsafe impl Send for Slab {}
// SAFETY: as above.
unsafe impl Sync for Slab {}

impl Slab {
    /// Maps a slab with this number of stacks. None of them has a guard yet.
    pub(super) fn map(shape: Shape, slots: usize, need: Need, pool: PoolAddress) -> io::Result<OwnedSlab> {
        let (mut list, place) = (Vec::new(), try_box()?);
        list.try_reserve_exact(slots)?;
        let length = shape.stride * slots;
        let memory = (sys::map(length)?, length);
        // SAFETY: the memory is ours and holds nothing. The advice only saves memory, so an error
        // is ignored: a kernel without huge pages refuses it.
        let _ = unsafe { sys::advise(memory, sys::NO_HUGE_PAGES) };
        let slab = Self { memory, shape, number: 0, pool, slots: Box::new([]), registered: None };
        // From here on `drop` unmaps the memory.
        let mut slab = OwnedSlab::new(Box::write(place, slab));
        if need == Need::Usual && !headroom::is_left() {
            return Err(io::Error::from_raw_os_error(libc::ENOMEM));
        }
        list.extend((0..slots).map(|index| Slot::new(slab.0, index as u32, slab.bounds(index))));
        slab.finish(list.into_boxed_slice())?;
        Ok(slab)
    }

    fn area(&self) -> Area {
        let (start, length) = self.memory;
        let Shape { guard, stride, .. } = self.shape;
        Area { start: start.addr().get(), length, stride, guard, slots: self.slots.as_ptr() }
    }

    fn change_entry(&self, area: Option<&Area>) {
        if let Some(registered) = &self.registered {
            registered.change(area);
        }
    }

    /// Returns the number of stacks.
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Returns how many bytes of address space the slab takes.
    pub(super) fn bytes(&self) -> usize {
        self.memory.1
    }

    /// Makes the guards of `count` stacks, starting with `first`; `count` is at most the number of
    /// ranges that one call takes. Returns how many were made and of which kind, and the error that
    /// stopped it before the end.
    ///
    /// # Safety
    ///
    /// These stacks exist, and are not in use.
    pub(super) unsafe fn guard(
        &self,
        kind: GuardKind,
        first: usize,
        count: usize,
    ) -> (usize, GuardKind, io::Result<()>) {
        let mut ranges = [(self.memory.0, 0); sys::MOST_RANGES];
        let ranges = &mut ranges[..count];
        for (index, range) in (first..).zip(&mut *ranges) {
            *range = (self.at(index), self.shape.guard);
        }
        // SAFETY: the caller's promise: no code uses these pages.
        unsafe { kind.install(ranges) }
    }

    /// Returns the stack of a slot.
    pub(super) fn stack(&self, index: usize) -> RawStack {
        RawStack(NonNull::from_ref(&self.slots[index]))
    }

    /// Returns the lowest usable byte of a stack, and one past its highest.
    fn bounds(&self, index: usize) -> (NonNull<u8>, NonNull<u8>) {
        let colour = index % COLOURS * COLOUR;
        // SAFETY: guard, limit and top lie within the slot.
        let limit = unsafe { self.at(index).add(self.shape.guard) };
        // SAFETY: as above. The color is less than the page that the stride adds for it.
        let top = unsafe { self.at(index).add(self.shape.stride - colour) };
        (limit, top)
    }

    /// Returns the start of a slot.
    fn at(&self, index: usize) -> NonNull<u8> {
        assert!((index + 1) * self.shape.stride <= self.bytes(), "a slot of this slab");
        // SAFETY: the result lies within the memory, which is as long as all slots together.
        unsafe { self.memory.0.add(index * self.shape.stride) }
    }

    /// Returns how many bytes of the slab are in memory.
    pub(super) fn resident(&self) -> usize {
        const PAGES: usize = 1024;
        let page = sys::page_size();
        let (start, length) = (self.memory.0.addr().get(), self.memory.1);
        let resident = |offset: usize| {
            let (mut pages, length) = ([0_u8; PAGES], (length - offset).min(PAGES * page));
            match sys::resident(start + offset, length, &mut pages) {
                Ok(()) => pages.iter().filter(|&&page| page & 1 == 1).count() * page,
                Err(_) => 0,
            }
        };
        (0..length).step_by(PAGES * page).map(resident).sum()
    }
}

/// A slab at a fixed address. This is not a `Box`: moving a `Box` asserts exclusive access to its
/// contents, but slots point to their slab, and users point to their slots.
///
/// # Invariant
///
/// Made by `Box::into_raw` once, and owned by this value.
pub(super) struct OwnedSlab(NonNull<Slab>);

// SAFETY: it owns a slab, and a slab is `Send`.
unsafe impl Send for OwnedSlab {}
// SAFETY: a shared reference gives a shared slab.
unsafe impl Sync for OwnedSlab {}

impl OwnedSlab {
    fn new(slab: Box<Slab>) -> Self {
        Self(NonNull::new(Box::into_raw(slab)).expect("a `Box` is never null"))
    }

    /// Gives a new slab its slots, and enters it into the registry.
    fn finish(&mut self, slots: Box<[Slot]>) -> io::Result<()> {
        // SAFETY: the type's invariant. There is no reference to the slab yet.
        let slab = unsafe { self.0.as_mut() };
        slab.slots = slots;
        slab.registered = Some(registry().enter(&slab.area())?);
        Ok(())
    }
}

impl OwnedSlab {
    /// Sets the number by which the pool finds the slab.
    ///
    /// # Safety
    ///
    /// No stack of the slab is in use.
    pub(super) unsafe fn set_number(&mut self, number: usize) {
        // SAFETY: the type's invariant. By the caller's promise, no thread reads the field.
        unsafe { (*self.0.as_ptr()).number = number };
    }

    /// Gives the slab back to the system. If the system refuses to unmap it, returns it without
    /// memory.
    ///
    /// # Safety
    ///
    /// No stack of the slab is in use.
    pub(super) unsafe fn give_back(mut self) -> Result<(), Self> {
        // SAFETY: the type's invariant. By the caller's promise, there are no other references.
        let slab = unsafe { self.0.as_mut() };
        // Removed first, so that no reader finds the slab after its memory is unmapped. The entry
        // stays, in case the memory does too.
        slab.change_entry(None);
        // SAFETY: the invariant of `memory`, and the caller's promise.
        if unsafe { sys::unmap(slab.memory) }.is_ok() {
            // SAFETY: the type's invariant. The owner is not dropped any more.
            drop(unsafe { Box::from_raw(ManuallyDrop::new(self).0.as_ptr()) });
            return Ok(());
        }
        // SAFETY: the caller's promise. If the system refuses this too, the memory stays as it is.
        let _ = unsafe { sys::free_each(&[slab.memory]) };
        slab.change_entry(Some(&slab.area()));
        Err(self)
    }
}

impl Deref for OwnedSlab {
    type Target = Slab;

    fn deref(&self) -> &Slab {
        // SAFETY: the type's invariant. After `finish` there are only shared references.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for OwnedSlab {
    fn drop(&mut self) {
        // SAFETY: the type's invariant.
        let mut slab = unsafe { Box::from_raw(self.0.as_ptr()) };
        slab.registered = None;
        // SAFETY: the invariant of `memory`. The pool drops a slab only when all its stacks have
        // been returned.
        unsafe { refused::unmap(slab.memory) };
    }
}

/// Frees the memory of stacks.
///
/// # Safety
///
/// The caller alone has these stacks.
pub(super) unsafe fn free(stacks: &Few<RawStack, { sys::MOST_RANGES }>) {
    let mut ranges = [(NonNull::dangling(), 0); sys::MOST_RANGES];
    let count = stacks.iter().zip(&mut ranges).map(|(stack, range)| *range = stack.memory()).count();
    // SAFETY: the caller's promise. Freeing only saves memory, so an error is ignored: an old
    // kernel refuses if the memory is locked.
    let _ = unsafe { sys::free_each(&ranges[..count]) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(loom))]
    #[test]
    #[should_panic(expected = "a slot of this slab")]
    fn a_slab_ends_with_its_last_slot() {
        let class = SizeClass::of(1).expect("a class");
        let shape = Shape::new(class, 1, sys::page_size());
        let slab = Slab::map(shape, 2, Need::Urgent, PoolAddress(NonNull::dangling())).expect("a slab");
        assert_eq!(slab.at(1).addr().get() - slab.at(0).addr().get(), shape.stride);
        slab.at(2);
    }

    #[test]
    fn guards_begin_and_end_with_pages_of_any_size() {
        for page in [4 << 10, 16 << 10, 64 << 10] {
            for class in SizeClass::all() {
                let shape = Shape::new(class, 2, page);
                let (guard, stride) = (shape.guard / page, shape.stride / page);
                assert!((shape.guard % page, shape.stride % page) == (0, 0), "{page}: {shape:?}");
                assert!((2..=3).contains(&guard) && stride % 2 == 1, "{page}: {shape:?}");
                let least = shape.stride - shape.guard - (COLOURS - 1) * COLOUR;
                assert!(least >= class.bytes(), "{page}: {shape:?}");
            }
        }
    }
}
