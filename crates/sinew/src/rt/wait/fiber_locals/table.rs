//! The slots of one fiber or thread, by the numbers of their keys, and in the order of their
//! initialisation.
//!
//! Eight slots have a place in the table itself: the place of their number, or another one if that
//! is taken. The others are in a linked list, which needs no memory of its own: see
//! [`memory`](super::memory).
//!
//! # Safety
//!
//! Trusted with the slots: they live as long as the table.
#![expect(unsafe_code, reason = "slots are pointers")]

use std::any::Any;
use std::cell::Cell;
use std::num::NonZero;
use std::ptr::NonNull;

use super::slot;
use super::slot::Header;
use crate::rt::base::FirstPanic;

/// How many slots have a place in the table itself.
const FIRST: usize = 8;

/// The slots.
///
/// # Invariant
///
/// All slots in the table are alive until it ends, and each was made for the type of the key with
/// its number.
#[derive(Default)]
pub(super) struct LocalsTable {
    /// Zero where there is no slot.
    numbers: [Cell<u32>; FIRST],
    slots: [Cell<Option<NonNull<Header>>>; FIRST],
    /// The newest of the slots that have no place above. It links to the others.
    more: Cell<Option<NonNull<Header>>>,
    /// The slot that was initialised last, among those whose value exists and needs a drop. It
    /// links to the one before it.
    newest: Cell<Option<NonNull<Header>>>,
}

impl LocalsTable {
    /// Returns the slot for a number, if it is in its place. There is none for zero.
    #[inline]
    pub(super) fn find_in_place(&self, number: u32) -> Option<NonNull<Header>> {
        let place = number as usize % FIRST;
        // Where there is no slot, the number is zero.
        if self.numbers[place].get() == number { self.slots[place].get() } else { None }
    }

    /// Returns the slot for a number.
    pub(super) fn find(&self, number: NonZero<u32>) -> Option<NonNull<Header>> {
        if let Some(index) = self.numbers.iter().position(|other| other.get() == number.get()) {
            return self.slots[index].get();
        }
        let mut next = self.more.get();
        while let Some(slot) = next {
            // SAFETY: the invariant.
            let (other, behind) = unsafe { slot::number_and_next(slot) };
            if other == number {
                break;
            }
            next = behind;
        }
        next
    }

    /// Adds a slot for a number that has none.
    ///
    /// # Safety
    ///
    /// The slot was made for this table and for the type of the key with this number. It belongs to
    /// the table from now on.
    pub(super) unsafe fn add(&self, number: NonZero<u32>, slot: NonNull<Header>) {
        let is_free = |place: &usize| self.numbers[*place].get() == 0;
        match [number.get() as usize % FIRST].into_iter().chain(0..FIRST).find(is_free) {
            Some(free) => {
                self.numbers[free].set(number.get());
                self.slots[free].set(Some(slot));
            }
            // SAFETY: the caller's promise: the slot is alive and new.
            None => self.more.set(Some(unsafe { slot::link(slot, self.more.get()) })),
        }
    }

    /// Registers the value of a slot of this table, which is ready and needs a drop.
    pub(super) fn made(&self, slot: NonNull<Header>) {
        // SAFETY: the invariant.
        unsafe { slot::set_before(slot, self.newest.replace(Some(slot))) };
    }

    /// Drops all values, newest first, including those that destructors of others initialise. A key
    /// whose value was dropped gets no other, so this ends. Returns the first panic.
    pub(super) fn end_values(&self) -> Option<Box<dyn Any + Send>> {
        let mut first = FirstPanic::new();
        while let Some(slot) = self.newest.get() {
            // SAFETY: the invariant.
            self.newest.set(unsafe { slot::before(slot) });
            // SAFETY: as above. The slots in the list of values to drop are ready.
            first.catch(|| unsafe { slot::end_value(slot) });
        }
        first.into_payload()
    }
}

impl Drop for LocalsTable {
    fn drop(&mut self) {
        for slot in self.slots.iter().filter_map(Cell::take) {
            // SAFETY: the invariant. Values have ended before the table does, and the slot cannot
            // be found any more.
            unsafe { slot::end(slot) };
        }
        let mut more = self.more.take();
        while let Some(slot) = more {
            // SAFETY: the invariant.
            let (_, behind) = unsafe { slot::number_and_next(slot) };
            more = behind;
            // SAFETY: as above.
            unsafe { slot::end(slot) };
        }
    }
}
