//! Finds the stack that an address belongs to. A signal handler may call it: it takes no lock and
//! does not allocate. Knows no pool and no signal.
//!
//! The registry is a list of areas that only grows: when an area is removed, its entry stays in the
//! list, empty, and is used again. So a reader may walk the list at any time, whatever code it
//! interrupts. An entry is a [`SeqCell`]. A reader that finds an entry changing skips it and loses
//! nothing: it looks for the area of a stack that a thread runs on. That area was entered before
//! the stack was handed out, and does not change before the stack is returned.
//!
//! # Safety
//!
//! Trusted with entries that are never freed.
#![expect(unsafe_code, reason = "entries are shared by pointer")]

use core::ptr;
use std::io;

use super::boxed::try_box;
use super::seq_cell::SeqCell;
use super::slot::Slot;
use crate::sync::{AtomicPtr, Lock, Ordering};

/// An area of stacks: slots of equal stride, each with its guard at its low end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    pub(crate) start: usize,
    pub(crate) length: usize,
    pub(crate) stride: usize,
    pub(crate) guard: usize,
    /// The records of the slots, in order; null for a single stack without a record.
    pub(crate) slots: *const Slot,
}

// SAFETY: an area only describes memory. Code that follows the pointer has to show that it is still
// valid.
unsafe impl Send for Area {}

impl Area {
    const NONE: Self = Self { start: 0, length: 0, stride: 1, guard: 0, slots: ptr::null() };

    /// Returns the area as words.
    fn to_words(self) -> [usize; 5] {
        let slots = self.slots.expose_provenance();
        [self.start, self.length, self.stride, self.guard, slots]
    }

    /// Makes an area from words.
    fn from_words([start, length, stride, guard, slots]: [usize; 5]) -> Self {
        Self { start, length, stride, guard, slots: ptr::with_exposed_provenance(slots) }
    }

    /// Returns whether an address lies in the area.
    pub(crate) fn contains(&self, address: usize) -> bool {
        address.wrapping_sub(self.start) < self.length
    }

    /// Returns the index of the slot that contains an address of the area, and the address's
    /// distance from the low end of the slot.
    pub(crate) fn slot(&self, address: usize) -> (usize, usize) {
        let offset = address - self.start;
        (offset / self.stride, offset % self.stride)
    }
}

/// An entry of the list.
struct RegistryEntry {
    area: SeqCell<5>,
    /// Set before the entry is published, and never changed.
    next: *const RegistryEntry,
}

/// A list of areas.
pub(crate) struct Registry {
    /// # Invariant
    ///
    /// Null, or an entry that is never freed. The same holds for the `next` of each entry.
    head: AtomicPtr<RegistryEntry>,
    /// The lock that is held to change an entry.
    unused: Lock<Unused>,
}

/// Entries without an area.
#[derive(Default)]
struct Unused {
    /// # Invariant
    ///
    /// Has room for all entries, so that removing an area needs no memory.
    list: Vec<*const RegistryEntry>,
    /// The number of entries, used or not.
    entries: usize,
}

// SAFETY: the entries are shared, never freed, and made of atomics. `next` does not change once
// other threads can see it.
unsafe impl Sync for Registry {}
// SAFETY: as above.
unsafe impl Send for Registry {}

/// Returns the registry of this process.
#[cfg(not(loom))]
pub(crate) fn registry() -> &'static Registry {
    static REGISTRY: Registry = Registry::new();
    &REGISTRY
}

/// Models have registries of their own, and no stacks.
#[cfg(loom)]
pub(crate) fn registry() -> &'static Registry {
    unreachable!("no model makes a stack")
}

impl Registry {
    #[cfg(not(loom))]
    const fn new() -> Self {
        Self {
            head: AtomicPtr::new(ptr::null_mut()),
            unused: Lock::new(Unused { list: Vec::new(), entries: 0 }),
        }
    }

    /// Enters an area until the result is dropped.
    ///
    /// Entering may need memory, and fails if there is none. Removing the area needs no memory.
    pub(crate) fn enter(&'static self, area: &Area) -> io::Result<Registered> {
        let mut unused = self.unused.lock();
        if let Some(entry) = unused.list.pop() {
            // SAFETY: the invariant of `head`: entries are never freed.
            unsafe { &*entry }.area.write(area.to_words());
            return Ok(Registered { registry: self, entry });
        }
        // The list is empty, so this reserves room for all entries and the new one.
        let entries = unused.entries + 1;
        unused.list.try_reserve(entries)?;
        let place = try_box()?;
        unused.entries = entries;
        // Relaxed, since only the holder of the lock replaces the head.
        let next = self.head.load(Ordering::Relaxed);
        let entry =
            Box::into_raw(Box::write(place, RegistryEntry { area: SeqCell::new(area.to_words()), next }));
        // Pairs with the acquire load in `find`: a thread that sees the entry also sees its
        // contents.
        self.head.store(entry, Ordering::Release);
        Ok(Registered { registry: self, entry })
    }

    /// Returns the area that contains an address. Takes no lock and does not allocate.
    pub(crate) fn find(&self, address: usize) -> Option<Area> {
        let mut entry = self.head.load(Ordering::Acquire).cast_const();
        while !entry.is_null() {
            // SAFETY: the invariant of `head`: entries are never freed.
            let current = unsafe { &*entry };
            match current.area.read().map(Area::from_words) {
                Some(area) if area.contains(address) => return Some(area),
                _ => entry = current.next,
            }
        }
        None
    }
}

/// An area in the registry.
pub(crate) struct Registered {
    registry: &'static Registry,
    entry: *const RegistryEntry,
}

// SAFETY: entries are shared between threads.
unsafe impl Send for Registered {}
// SAFETY: a shared reference has no methods.
unsafe impl Sync for Registered {}

impl Registered {
    /// Replaces the area of the entry, or makes the entry empty until the next change.
    pub(crate) fn change(&self, area: Option<&Area>) {
        let _unused = self.registry.unused.lock();
        // SAFETY: the invariant of `head`: entries are never freed.
        unsafe { &*self.entry }.area.write(area.unwrap_or(&Area::NONE).to_words());
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.change(None);
        // There is room, by the invariant of the list.
        self.registry.unused.lock().list.push(self.entry);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn area(start: usize) -> Area {
        Area { start, length: 1000, stride: 100, guard: 10, slots: ptr::null() }
    }

    fn entries(registry: &Registry) -> usize {
        let next = |entry: &*const RegistryEntry| {
            // SAFETY: the invariant of `head`.
            let next = unsafe { &**entry }.next;
            (!next.is_null()).then_some(next)
        };
        let head = registry.head.load(Ordering::Acquire).cast_const();
        std::iter::successors((!head.is_null()).then_some(head), next).count()
    }

    #[test]
    fn an_address_is_found_while_its_area_is_entered() {
        static TESTED: Registry = Registry::new();
        assert_eq!(TESTED.find(1500), None);
        let enter = |start| TESTED.enter(&area(start)).expect("room for an entry");
        let (one, two) = (enter(1000), enter(5000));
        for (address, found) in [(999, None), (1000, Some(1000)), (1999, Some(1000)), (2000, None)] {
            assert_eq!(TESTED.find(address).map(|area| area.start), found, "{address}");
        }
        assert_eq!(TESTED.find(5999).map(|area| area.slot(5999)), Some((9, 99)));
        drop(one);
        assert_eq!(TESTED.find(1500), None);
        let three = enter(7000);
        assert!(TESTED.find(7500).is_some() && TESTED.find(5500).is_some());
        three.change(None);
        assert!(TESTED.find(7500).is_none());
        three.change(Some(&area(8000)));
        assert!(TESTED.find(8500).is_some());
        drop((two, three));
        assert_eq!(TESTED.find(5500), None);
        for start in (0..100).map(|number| number * 10_000) {
            drop(enter(start));
        }
        assert_eq!(entries(&TESTED), 2, "entries are used again");
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;

    #[test]
    fn an_area_that_is_entered_is_found_whole_or_not_yet() {
        loom::model(|| {
            let (head, unused) = (AtomicPtr::new(ptr::null_mut()), Lock::default());
            let registry: &'static Registry = Box::leak(Box::new(Registry { head, unused }));
            let area = |start| Area { start, length: 100, stride: 100, guard: 10, slots: ptr::null() };
            let writer = loom::thread::spawn(move || std::mem::forget(registry.enter(&area(1000)).ok()));
            let found = registry.find(1050);
            assert!(found.is_none() || found == Some(area(1000)), "{found:?}");
            writer.join().expect("the writer ends");
            assert_eq!(registry.find(1050), Some(area(1000)));
        });
    }
}
