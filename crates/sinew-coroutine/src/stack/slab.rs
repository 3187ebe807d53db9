//! A slab: one mapping cut into stacks of one class. Knows its memory, not who has which stack.
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
//! A page more than the class asks for makes room for the colours, so that no stack has less than its class.
//!
//! # Safety
//!
//! Trusted with one mapping, which lives as long as the slab, and with the arithmetic of its parts.
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

/// The tops of neighbouring stacks lie this far apart within their page, so that their hottest lines fall into different
/// sets of the cache.
const COLOUR: usize = 128;

/// So many places, then they repeat. The last leaves half of the page to a shallow stack: it needs no second one.
const COLOURS: usize = 16;

/// No slab is larger than this, unless one stack is.
const LARGEST_SLAB: usize = 64 * 1024 * 1024;

/// Whether a slab may take the address space that stacks leave to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// It may not.
    Usual,
    /// It may.
    Urgent,
}

/// How a slab is cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) class: SizeClass,
    guard: usize,
    stride: usize,
}

impl Shape {
    /// Stacks of a class, with so many pages of guard. Where pages are larger than the smallest classes, those get a page.
    pub(super) fn new(class: SizeClass, guard_pages: usize, page: usize) -> Self {
        let above = class.bytes().next_multiple_of(page) + page;
        // The pages that fibers touch most lie a stride apart. If that is an even number of pages, they share a few sets of
        // the translation cache: 1,000 of them do not fit then, though it has room for more.
        let guard =
            guard_pages * page + if (guard_pages + above / page).is_multiple_of(2) { page } else { 0 };
        Self { class, guard, stride: guard + above }
    }

    /// The most stacks that a slab of this shape has.
    pub(super) fn most_slots(&self) -> usize {
        (LARGEST_SLAB / self.stride).max(1)
    }
}

/// Where the pool of a slab is. Only the pool itself can make something of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PoolAddress(pub(super) NonNull<()>);

/// A stack of a slab, without any claim to it. A word, so that it travels in a register.
///
/// # Invariant
///
/// The slot of a slab that outlives this value. Where several copies exist, one of them is the owner.
#[derive(Clone, Copy)]
pub(crate) struct RawStack(NonNull<Slot>);

// SAFETY: memory and slots belong to no thread; who may use them is settled by who owns the value.
unsafe impl Send for RawStack {}
// SAFETY: a shared reference can only be asked for addresses.
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

    /// All of its usable memory, the colour's share included.
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
    /// Where the pool keeps this slab.
    pub(super) number: usize,
    /// The pool, which outlives the slab.
    pub(super) pool: PoolAddress,
    slots: Box<[Slot]>,
    /// It leaves the registry before the memory goes.
    registered: Option<Registered>,
}

// SAFETY: all of it is shared memory with its own rules (`Slot`), or does not change.
unsafe impl Send for Slab {}
// SAFETY: as above.
unsafe impl Sync for Slab {}

impl Slab {
    /// Maps a slab of so many stacks. None of them is guarded yet.
    pub(super) fn map(shape: Shape, slots: usize, need: Need, pool: PoolAddress) -> io::Result<OwnedSlab> {
        let (mut list, place) = (Vec::new(), try_box()?);
        list.try_reserve_exact(slots)?;
        let length = shape.stride * slots;
        let memory = (sys::map(length)?, length);
        // SAFETY: the memory is ours and holds nothing. Whether huge pages are kept out is a matter of thrift: a kernel
        // without them refuses.
        let _ = unsafe { sys::advise(memory, sys::NO_HUGE_PAGES) };
        let slab = Self { memory, shape, number: 0, pool, slots: Box::new([]), registered: None };
        // From here on the memory is unmapped by `drop`.
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

    /// How many stacks there are.
    pub(super) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The memory it takes from the address space.
    pub(super) fn bytes(&self) -> usize {
        self.memory.1
    }

    /// Makes the guards of `count` stacks from the `first` on, as many as one call takes at most. Returns how many are made,
    /// of which kind, and why not all.
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
        // SAFETY: the caller's promise: nobody uses these pages.
        unsafe { kind.install(ranges) }
    }

    /// The stack of a slot.
    pub(super) fn stack(&self, index: usize) -> RawStack {
        RawStack(NonNull::from_ref(&self.slots[index]))
    }

    /// The lowest usable byte of a stack, and one past the highest.
    fn bounds(&self, index: usize) -> (NonNull<u8>, NonNull<u8>) {
        let colour = index % COLOURS * COLOUR;
        // SAFETY: guard, limit and top lie within the slot.
        let limit = unsafe { self.at(index).add(self.shape.guard) };
        // SAFETY: as above; the colour is less than the page that the stride has for it.
        let top = unsafe { self.at(index).add(self.shape.stride - colour) };
        (limit, top)
    }

    /// Where a slot begins.
    fn at(&self, index: usize) -> NonNull<u8> {
        assert!((index + 1) * self.shape.stride <= self.bytes(), "a slot of this slab");
        // SAFETY: within the memory, which is as long as all slots together.
        unsafe { self.memory.0.add(index * self.shape.stride) }
    }

    /// How many bytes of it are in memory.
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

/// A slab in its place. Not a `Box`, which would claim to be the only way to what it owns whenever it is moved, while slots
/// point to their slab and users to their slots.
///
/// # Invariant
///
/// Made by `Box::into_raw` once, and owned by this value.
pub(super) struct OwnedSlab(NonNull<Slab>);

// SAFETY: it is a slab's owner, and a slab may be sent.
unsafe impl Send for OwnedSlab {}
// SAFETY: a shared reference gives a shared slab.
unsafe impl Sync for OwnedSlab {}

impl OwnedSlab {
    fn new(slab: Box<Slab>) -> Self {
        Self(NonNull::new(Box::into_raw(slab)).expect("a `Box` is never null"))
    }

    /// Gives a new slab its slots, and enters it into the registry.
    fn finish(&mut self, slots: Box<[Slot]>) -> io::Result<()> {
        // SAFETY: the type's invariant; nobody has a reference to the slab yet.
        let slab = unsafe { self.0.as_mut() };
        slab.slots = slots;
        slab.registered = Some(registry().enter(&slab.area())?);
        Ok(())
    }
}

impl OwnedSlab {
    /// Says where the pool keeps the slab.
    ///
    /// # Safety
    ///
    /// Nobody has a stack of it.
    pub(super) unsafe fn set_number(&mut self, number: usize) {
        // SAFETY: the type's invariant; nobody reads the field, by the caller's promise.
        unsafe { (*self.0.as_ptr()).number = number };
    }

    /// Gives the slab back to the system. If that refuses to unmap it, it comes back without memory.
    ///
    /// # Safety
    ///
    /// Nobody has a stack of it.
    pub(super) unsafe fn give_back(mut self) -> Result<(), Self> {
        // SAFETY: the type's invariant; there are no other references, by the caller's promise.
        let slab = unsafe { self.0.as_mut() };
        // Nobody finds it any more when the memory goes. The entry stays, in case that the memory does too.
        slab.change_entry(None);
        // SAFETY: the invariant of `memory`, and the caller's promise.
        if unsafe { sys::unmap(slab.memory) }.is_ok() {
            // SAFETY: the type's invariant; nobody drops the owner any more.
            drop(unsafe { Box::from_raw(ManuallyDrop::new(self).0.as_ptr()) });
            return Ok(());
        }
        // SAFETY: the caller's promise. If not even this is granted, the memory stays where it is.
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
        // SAFETY: the invariant of `memory`; the pool drops a slab only when all its stacks are back.
        unsafe { refused::unmap(slab.memory) };
    }
}

/// Gives the memory of stacks back.
///
/// # Safety
///
/// Nobody has these stacks but the caller.
pub(super) unsafe fn free(stacks: &Few<RawStack, { sys::MOST_RANGES }>) {
    let mut ranges = [(NonNull::dangling(), 0); sys::MOST_RANGES];
    let count = stacks.iter().zip(&mut ranges).map(|(stack, range)| *range = stack.memory()).count();
    // SAFETY: the caller's promise. That the memory is freed is a matter of thrift: an old kernel refuses if it is locked.
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
