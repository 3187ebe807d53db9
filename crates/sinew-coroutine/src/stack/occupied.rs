//! A slab, and the state of its stacks. Knows its own stacks, not the class that they are in.
//!
//! # Safety
//!
//! Trusted with knowing which stacks of a slab have not been used yet.
#![expect(unsafe_code, reason = "guards are made on memory that is known to be unused")]

use std::io;

use super::guard::GuardKind;
use super::pool_error::StackError;
use super::slab::{OwnedSlab, RawStack};
use super::sys;
use crate::valgrind::KnownStack;

/// The size of the first batch in which guards are made.
pub(super) const FIRST_BATCH: usize = 16;
/// The size of the largest batch: the most ranges that one call takes. Each batch in between is as
/// large as all batches before it together.
const LARGEST_BATCH: usize = sys::MOST_RANGES;

/// A slab, and the state of its stacks.
pub(super) struct Occupied {
    pub(super) slab: OwnedSlab,
    /// The number of slots with guards, from the first slot on.
    guarded: usize,
    /// The same number, by kind.
    pub(super) guards: Guards,
    /// The same slots, as valgrind knows them. Has room for all slots, as `cold` does.
    known: Vec<KnownStack>,
    /// Guarded slots that wait without memory; the last one is taken next. Has room for all slots,
    /// so that a stack can always be taken back.
    cold: Vec<u32>,
    /// The number of stacks that are not cold.
    ///
    /// # Invariant
    ///
    /// Counts every stack of the slab that is warm, out, or being cooled. The slab is dropped only
    /// at zero.
    pub(super) warm_or_out: usize,
}

/// The number of guards, by kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Guards {
    pub(super) by_advice: usize,
    pub(super) by_protection: usize,
}

impl Guards {
    fn count(&mut self, kind: GuardKind, made: usize) {
        match kind {
            GuardKind::Advice => self.by_advice += made,
            GuardKind::Protection => self.by_protection += made,
        }
    }
}

impl Occupied {
    /// Creates the record of a new slab, whose stacks have no guards yet.
    pub(super) fn new(slab: OwnedSlab) -> io::Result<Self> {
        let (mut known, mut cold) = (Vec::new(), Vec::new());
        known.try_reserve_exact(slab.slots())?;
        cold.try_reserve_exact(slab.slots())?;
        Ok(Self { slab, guarded: 0, guards: Guards::default(), known, cold, warm_or_out: 0 })
    }

    /// Sets the number by which the pool finds the slab.
    pub(super) fn set_number(&mut self, number: usize) {
        assert_eq!(self.warm_or_out, 0, "a slab is given a number before its first stack goes out");
        // SAFETY: the invariant of `warm_or_out`: no stack of the slab is in use.
        unsafe { self.slab.set_number(number) };
    }

    /// Returns whether any of its stacks has a guard.
    pub(super) fn has_guards(&self) -> bool {
        self.guarded > 0
    }

    /// Returns whether there are stacks without guards.
    pub(super) fn has_unguarded(&self) -> bool {
        self.guarded < self.slab.slots()
    }

    /// Returns whether there is a cold stack.
    pub(super) fn has_cold(&self) -> bool {
        !self.cold.is_empty()
    }

    /// Takes a cold stack.
    pub(super) fn take(&mut self) -> Option<RawStack> {
        let index = self.cold.pop()?;
        self.warm_or_out += 1;
        Some(self.slab.stack(index as usize))
    }

    /// Takes back a stack whose memory was freed.
    pub(super) fn put_back(&mut self, index: u32) {
        self.cold.push(index);
        self.warm_or_out -= 1;
    }

    /// Makes the next guards; stacks with new guards are cold. Makes at least one, or returns the
    /// error.
    pub(super) fn make_guards(&mut self, kind: GuardKind) -> Result<(), StackError> {
        let first = self.guarded;
        let count = first.clamp(FIRST_BATCH, LARGEST_BATCH).min(self.slab.slots() - first);
        // SAFETY: slots from `guarded` on have never been handed out.
        let (made, kind, result) = unsafe { self.slab.guard(kind, first, count) };
        self.guarded += made;
        self.guards.count(kind, made);
        let stacks = (first..first + made).map(|index| self.slab.stack(index));
        self.known.extend(stacks.map(|stack| KnownStack::new(stack.slot().limit, stack.slot().top)));
        // Reversed, so that the lowest is handed out first.
        self.cold.extend((first..first + made).rev().map(|index| index as u32));
        match result {
            // If only some guards were made, the rest is tried again when it is needed.
            Err(error) if made == 0 => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Gives the slab back to the system. If the system refuses, returns the slab without memory,
    /// with all its stacks cold.
    pub(super) fn give_back(self) -> Result<(), Self> {
        debug_assert_eq!(self.warm_or_out, 0, "no stack of a slab that is given back is in use");
        let Self { slab, guarded, guards, known, mut cold, .. } = self;
        let refused = |slab| {
            cold.clear();
            cold.extend((0..guarded as u32).rev());
            Self { slab, guarded, guards, known, cold, warm_or_out: 0 }
        };
        // SAFETY: the invariant of `warm_or_out`: no stack of the slab is in use.
        unsafe { slab.give_back() }.map_err(refused)
    }
}
