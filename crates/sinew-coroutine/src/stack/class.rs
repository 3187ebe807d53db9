//! All stacks of one class: which slabs there are, which stacks wait in them, which are warm. Knows no thread and no
//! cache; whoever calls holds the class's lock.
//!
//! A stack is *cold* when it waits in its slab without memory, *warm* when it waits with the memory that it last had, and
//! *out* when somebody else has it. Warm stacks are handed out last in, first out: the newest is the likeliest to be in
//! the processor's cache, and the oldest are those that nobody needs.

use core::ptr::NonNull;
use std::collections::{BTreeSet, VecDeque};

use super::guard::GuardKind;
use super::occupied::{FIRST_BATCH, Guards, Occupied};
use super::pool_error::StackError;
use super::shared::Shared;
use super::slab::{RawStack, Shape, Slab};

/// The stacks of one class.
pub(super) struct Class {
    shape: Shape,
    kind: GuardKind,
    /// By number; a slab keeps its number until it goes.
    slabs: Vec<Option<Occupied>>,
    /// The numbers of slabs with a cold stack. The lowest is used first, so that the last ones get empty.
    with_cold: BTreeSet<usize>,
    /// The numbers of slabs with stacks whose guards are still to be made. They are used when nothing is cold.
    unguarded: BTreeSet<usize>,
    /// The numbers of slabs that nobody has a stack of, and that the system would not unmap.
    refused: BTreeSet<usize>,
    /// Oldest first: taken from the back, trimmed from the front.
    warm: VecDeque<RawStack>,
    /// The fewest warm stacks since the last look: so many were not needed.
    spare: usize,
    /// How many slots the next slab gets.
    next_slots: usize,
    /// Stacks that caches and users have.
    pub(super) out: usize,
}

/// What is taken out of a class to be given back to the system, which takes a while and needs no lock.
#[derive(Default)]
pub(super) struct Retired {
    /// Slabs without any stack that somebody has.
    pub(super) slabs: Vec<Occupied>,
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
            with_cold: BTreeSet::new(),
            unguarded: BTreeSet::new(),
            refused: BTreeSet::new(),
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
        let number = match self.with_cold.first() {
            Some(&number) => number,
            None => self.make_cold(pool)?,
        };
        let occupied = self.slabs[number].as_mut().expect("a slab with stacks to take is there");
        let stack = occupied.take().expect("it has a cold stack");
        if !occupied.has_cold() {
            self.with_cold.remove(&number);
        }
        self.refused.remove(&number);
        self.out += 1;
        Ok(stack)
    }

    /// Guards stacks of a slab that has some without, or of a new one. Returns its number.
    fn make_cold(&mut self, pool: NonNull<Shared>) -> Result<usize, StackError> {
        let number = match self.unguarded.first() {
            Some(&number) => number,
            None => self.add_slab(pool)?,
        };
        let occupied = self.slabs[number].as_mut().expect("a slab without some guards is there");
        let made = occupied.make_guards(self.kind);
        let is_useless = !occupied.has_guards();
        self.note_room(number);
        if is_useless {
            let gone = self.remove(number);
            self.restore(gone.give_back().err());
        }
        made.map(|()| number)
    }

    fn add_slab(&mut self, pool: NonNull<Shared>) -> Result<usize, StackError> {
        let slots = self.next_slots.min(self.shape.most_slots());
        Ok(self.place(Occupied::new(Slab::map(self.shape, slots, pool)?)))
    }

    /// Gives a slab a number.
    fn place(&mut self, mut occupied: Occupied) -> usize {
        let number = self.slabs.iter().position(Option::is_none).unwrap_or(self.slabs.len());
        if number == self.slabs.len() {
            self.slabs.push(None);
        }
        occupied.set_number(number);
        self.next_slots = occupied.slab.slots() * 2;
        self.slabs[number] = Some(occupied);
        self.note_room(number);
        number
    }

    /// Files a slab by what it has to give.
    fn note_room(&mut self, number: usize) {
        let Some(occupied) = &self.slabs[number] else { return };
        let file = |list: &mut BTreeSet<_>, belongs| {
            if belongs {
                list.insert(number)
            } else {
                list.remove(&number)
            };
        };
        file(&mut self.with_cold, occupied.has_cold());
        file(&mut self.unguarded, occupied.has_unguarded());
    }

    /// Takes slabs back that the system would not unmap. Their stacks are cold, and as good as others.
    pub(super) fn restore(&mut self, slabs: impl IntoIterator<Item = Occupied>) {
        for occupied in slabs {
            let number = self.place(occupied);
            self.refused.insert(number);
        }
    }

    /// Takes slabs out that the system would not unmap, to try again.
    pub(super) fn take_refused(&mut self) -> Vec<Occupied> {
        std::mem::take(&mut self.refused).into_iter().map(|number| self.remove(number)).collect()
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
    pub(super) fn cooled(&mut self, stacks: &[RawStack]) -> Vec<Occupied> {
        let mut numbers = BTreeSet::new();
        for stack in stacks {
            let (number, index) = (stack.slab().number, stack.slot().index);
            let occupied = self.occupied(stack);
            occupied.put_back(index);
            if occupied.warm_or_out == 0 {
                numbers.insert(number);
            } else {
                self.with_cold.insert(number);
            }
        }
        numbers.into_iter().map(|number| self.remove(number)).collect()
    }

    fn occupied(&mut self, stack: &RawStack) -> &mut Occupied {
        self.slabs[stack.slab().number].as_mut().expect("a slab is there while it has stacks")
    }

    fn remove(&mut self, number: usize) -> Occupied {
        for list in [&mut self.with_cold, &mut self.unguarded, &mut self.refused] {
            list.remove(&number);
        }
        self.next_slots = (self.next_slots / 2).max(FIRST_BATCH);
        self.slabs[number].take().expect("a slab is removed once")
    }

    /// Every slab, and its guards.
    pub(super) fn slabs(&self) -> impl Iterator<Item = (&Slab, Guards)> {
        self.slabs.iter().flatten().map(|occupied| (&*occupied.slab, occupied.guards))
    }
}
