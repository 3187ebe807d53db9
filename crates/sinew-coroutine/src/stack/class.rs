//! All stacks of one class: which slabs there are, which stacks wait in them, which are warm. Knows no thread and no
//! cache; whoever calls holds the class's lock.
//!
//! A stack is *cold* when it waits in its slab without memory, *warm* when it waits with the memory that it last had, and
//! *out* when somebody else has it. Warm stacks are handed out last in, first out: the newest is the likeliest to be in
//! the processor's cache, and the oldest are those that nobody needs.
//!
//! # Safety
//!
//! Trusted with deciding when a slab has no stack out, and can go.
#![expect(unsafe_code, reason = "guards are made on memory that is known to be unused")]

use core::ptr::NonNull;
use std::collections::{BTreeSet, VecDeque};

use super::guard::GuardKind;
use super::pool_error::StackError;
use super::shared::Shared;
use super::slab::{OwnedSlab, RawStack, Shape, Slab};
use crate::valgrind::KnownStack;

/// Guards are made in batches: at first so many,
const FIRST_BATCH: usize = 16;
/// then as many as there are, up to what one system call takes.
const LARGEST_BATCH: usize = super::sys::MOST_RANGES;

/// A slab, and what its stacks are doing.
struct Occupied {
    slab: OwnedSlab,
    /// The first so many slots have guards.
    guarded: usize,
    /// The same, by kind.
    guards: Guards,
    /// The same, for valgrind.
    known: Vec<KnownStack>,
    /// Guarded slots that wait without memory; the last one is next.
    cold: Vec<u32>,
    /// Stacks that are not cold.
    ///
    /// # Invariant
    ///
    /// Counts every stack of the slab that is warm, out, or being cooled; the slab is dropped only at zero.
    warm_or_out: usize,
}

impl Occupied {
    fn has_room(&self) -> bool {
        !self.cold.is_empty() || self.guarded < self.slab.slots()
    }
}

/// The stacks of one class.
pub(super) struct Class {
    shape: Shape,
    kind: GuardKind,
    /// By number; a slab keeps its number until it goes.
    slabs: Vec<Option<Occupied>>,
    /// The numbers of slabs with a stack to give. The lowest is used first, so that the last ones get empty.
    with_room: BTreeSet<usize>,
    /// Oldest first: taken from the back, trimmed from the front.
    warm: VecDeque<RawStack>,
    /// The fewest warm stacks since the last look: so many were not needed.
    spare: usize,
    /// How many slots the next slab gets.
    next_slots: usize,
    /// Stacks that caches and users have.
    pub(super) out: usize,
}

/// How many guards there are, by kind.
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

/// What is taken out of a class to be given back to the system, which takes a while and needs no lock.
#[derive(Default)]
pub(super) struct Retired {
    /// Slabs without any stack that somebody has.
    pub(super) slabs: Vec<OwnedSlab>,
    /// Stacks whose memory is to be freed before they are cold.
    pub(super) cooling: Vec<RawStack>,
    /// Stacks in both.
    pub(super) count: usize,
}

impl Class {
    pub(super) fn new(shape: Shape, kind: GuardKind) -> Self {
        Self {
            shape,
            kind,
            slabs: Vec::new(),
            with_room: BTreeSet::new(),
            warm: VecDeque::new(),
            spare: 0,
            next_slots: FIRST_BATCH,
            out: 0,
        }
    }

    /// The newest warm stack.
    pub(super) fn take_warm(&mut self) -> Option<RawStack> {
        let stack = self.warm.pop_back()?;
        self.spare = self.spare.min(self.warm.len());
        self.out += 1;
        Some(stack)
    }

    /// A stack without memory, made if there is none.
    pub(super) fn take_cold(&mut self, pool: NonNull<Shared>) -> Result<RawStack, StackError> {
        let number = match self.with_room.first() {
            Some(&number) => number,
            None => self.add_slab(pool)?,
        };
        let kind = self.kind;
        let occupied = self.slabs[number].as_mut().expect("a slab with room is there");
        if occupied.cold.is_empty() {
            make_guards(occupied, kind)?;
        }
        let index = occupied.cold.pop().expect("guards were made");
        occupied.warm_or_out += 1;
        if !occupied.has_room() {
            self.with_room.remove(&number);
        }
        self.out += 1;
        Ok(occupied.slab.stack(index as usize))
    }

    fn add_slab(&mut self, pool: NonNull<Shared>) -> Result<usize, StackError> {
        let number = self.slabs.iter().position(Option::is_none).unwrap_or(self.slabs.len());
        let slots = self.next_slots.min(self.shape.most_slots());
        let slab = Slab::map(self.shape, slots, number, pool)?;
        self.next_slots = slots * 2;
        let occupied = Occupied {
            slab,
            guarded: 0,
            guards: Guards::default(),
            known: Vec::new(),
            cold: Vec::new(),
            warm_or_out: 0,
        };
        if number == self.slabs.len() {
            self.slabs.push(Some(occupied));
        } else {
            self.slabs[number] = Some(occupied);
        }
        self.with_room.insert(number);
        Ok(number)
    }

    /// Takes stacks back; they are warm now.
    pub(super) fn put_back(&mut self, stacks: impl IntoIterator<Item = RawStack>) {
        let before = self.warm.len();
        self.warm.extend(stacks);
        self.out -= self.warm.len() - before;
    }

    /// How many stacks are warm.
    pub(super) fn warm(&self) -> usize {
        self.warm.len()
    }

    /// How many warm stacks nobody needed since this was last asked.
    pub(super) fn take_spare(&mut self) -> usize {
        std::mem::replace(&mut self.spare, self.warm.len())
    }

    /// Takes the `count` oldest warm stacks out, to give their memory back.
    pub(super) fn retire(&mut self, count: usize) -> Retired {
        let count = count.min(self.warm.len());
        let oldest: Vec<_> = self.warm.drain(..count).collect();
        self.spare = self.spare.min(self.warm.len());
        for stack in &oldest {
            self.occupied(stack).warm_or_out -= 1;
        }
        let (gone, cooling): (Vec<_>, Vec<_>) =
            oldest.into_iter().partition(|stack| self.occupied(stack).warm_or_out == 0);
        // What is being cooled is not cold yet: its slab must not go meanwhile.
        for stack in &cooling {
            self.occupied(stack).warm_or_out += 1;
        }
        let numbers: BTreeSet<_> = gone.iter().map(|stack| stack.slab().number).collect();
        let slabs = numbers.into_iter().map(|number| self.remove(number)).collect();
        Retired { slabs, cooling, count }
    }

    /// The memory of these stacks is gone: they are cold. Returns the slabs that nobody has a stack of any more.
    pub(super) fn cooled(&mut self, stacks: &[RawStack]) -> Vec<OwnedSlab> {
        let mut numbers = BTreeSet::new();
        for stack in stacks {
            let (number, index) = (stack.slab().number, stack.slot().index);
            let occupied = self.occupied(stack);
            occupied.cold.push(index);
            occupied.warm_or_out -= 1;
            if occupied.warm_or_out == 0 {
                numbers.insert(number);
            } else {
                self.with_room.insert(number);
            }
        }
        numbers.into_iter().map(|number| self.remove(number)).collect()
    }

    fn occupied(&mut self, stack: &RawStack) -> &mut Occupied {
        self.slabs[stack.slab().number].as_mut().expect("a slab is there while it has stacks")
    }

    fn remove(&mut self, number: usize) -> OwnedSlab {
        self.with_room.remove(&number);
        let gone = self.slabs[number].take().expect("a slab is removed once");
        debug_assert_eq!(gone.warm_or_out, 0, "nobody has a stack of a slab that goes");
        self.next_slots = (self.next_slots / 2).max(FIRST_BATCH);
        gone.slab
    }

    /// Every slab, and its guards.
    pub(super) fn slabs(&self) -> impl Iterator<Item = (&Slab, Guards)> {
        self.slabs.iter().flatten().map(|occupied| (&*occupied.slab, occupied.guards))
    }
}

/// Makes the next guards of a slab; what was made is cold. Makes one at least, or tells why not.
fn make_guards(occupied: &mut Occupied, kind: GuardKind) -> Result<(), StackError> {
    let first = occupied.guarded;
    let count = first.clamp(FIRST_BATCH, LARGEST_BATCH).min(occupied.slab.slots() - first);
    // SAFETY: slots from `guarded` on have never been handed out.
    let (made, kind, result) = unsafe { occupied.slab.guard(kind, first, count) };
    occupied.guarded += made;
    occupied.guards.count(kind, made);
    let stacks = (first..first + made).map(|index| occupied.slab.stack(index));
    occupied.known.extend(stacks.map(|stack| KnownStack::new(stack.slot().limit, stack.slot().top)));
    // Reversed, so that the lowest is handed out first.
    occupied.cold.extend((first..first + made).rev().map(|index| index as u32));
    match result {
        // Some guards are as good as all: the rest is tried again when it is needed.
        Err(error) if made == 0 => Err(error.into()),
        _ => Ok(()),
    }
}
