//! All stacks of one class: which slabs there are, which stacks wait in them, and which are warm.
//! Knows no thread and no cache. The caller holds the class's lock.
//!
//! A stack is *cold* when it waits in its slab without memory, *warm* when it waits with the memory
//! that it last had, and *out* when a user or a cache has it. Warm stacks are handed out last in,
//! first out: the newest is the likeliest to be in the processor's cache, and the oldest are those
//! that are not needed.
//!
//! Only taking a stack may need memory for the lists. Returning a stack must not: it happens in
//! `Drop`, where an allocation failure would end the process, and when memory is short, returned
//! stacks free some.

use std::collections::VecDeque;
use std::io;

use super::few::Few;
use super::guard::GuardKind;
use super::numbers::Numbers;
use super::occupied::{FIRST_BATCH, Guards, Occupied};
use super::pool_error::StackError;
use super::slab::{Need, PoolAddress, RawStack, Shape, Slab};
use super::sys;

/// The stacks of one class.
pub(super) struct Class {
    shape: Shape,
    kind: GuardKind,
    /// Indexed by number, which a slab keeps until it is removed. Has room for those `leaving`.
    slabs: Vec<Option<Occupied>>,
    /// How many removed slabs the system has not unmapped yet: they may be placed again.
    leaving: usize,
    /// The numbers of slabs with a cold stack. The lowest is used first, to empty the last ones.
    with_cold: Numbers,
    /// The numbers of slabs with stacks without guards, used when no stack is cold.
    unguarded: Numbers,
    /// The numbers of slabs of which no stack is warm or out, and which the next trim is to unmap,
    /// because the system has refused to.
    refused: Numbers,
    /// Oldest first: taken from the back, trimmed from the front. Has room for all that are out.
    warm: VecDeque<RawStack>,
    /// The fewest warm stacks since the last check: this number of stacks was not needed.
    spare: usize,
    /// The number of stacks still to give back, of those that the last check found.
    idle: usize,
    /// The number of slots of the next slab.
    next_slots: usize,
    /// The number of stacks that caches and users have.
    pub(super) out: usize,
}

/// Stacks and slabs that were removed from a class, to be given back to the system. That takes a
/// while and needs no lock.
pub(super) struct Retired {
    /// Slabs of which no stack is warm or out.
    pub(super) slabs: Few<Occupied, 8>,
    /// Stacks whose memory is to be freed before they become cold.
    pub(super) cooling: Few<RawStack, { sys::MOST_RANGES }>,
}

impl Retired {
    pub(super) const fn new() -> Self {
        Self { slabs: Few::new(), cooling: Few::new() }
    }
}

impl Class {
    pub(super) fn new(shape: Shape, kind: GuardKind) -> Self {
        Self {
            shape,
            kind,
            slabs: Vec::new(),
            leaving: 0,
            with_cold: Numbers::default(),
            unguarded: Numbers::default(),
            refused: Numbers::default(),
            warm: VecDeque::new(),
            spare: 0,
            idle: 0,
            next_slots: FIRST_BATCH,
            out: 0,
        }
    }

    /// Takes the newest warm stack.
    pub(super) fn take_warm(&mut self) -> Option<RawStack> {
        let stack = self.warm.pop_back()?;
        self.spare = self.spare.min(self.warm.len());
        self.idle = self.idle.min(self.warm.len());
        self.out += 1;
        Some(stack)
    }

    /// Takes a cold stack. Makes one if there is none.
    pub(super) fn take_cold(&mut self, pool: PoolAddress) -> Result<RawStack, StackError> {
        self.warm.try_reserve(self.out + 1).map_err(io::Error::from)?;
        let number = match self.with_cold.first() {
            Some(number) => number,
            None => self.make_cold(pool)?,
        };
        let occupied = self.slabs[number].as_mut().expect("a slab with stacks to take is there");
        let stack = occupied.take().expect("it has a cold stack");
        if !occupied.has_cold() {
            self.with_cold.remove(number);
        }
        self.refused.remove(number);
        self.out += 1;
        Ok(stack)
    }

    /// Makes guards for stacks of a slab that lacks some, or of a new slab. Returns its number.
    fn make_cold(&mut self, pool: PoolAddress) -> Result<usize, StackError> {
        let number = match self.unguarded.first() {
            Some(number) => number,
            None => self.add_slab(pool)?,
        };
        let occupied = self.slabs[number].as_mut().expect("a slab without some guards is there");
        let made = occupied.make_guards(self.kind);
        let is_useless = !occupied.has_guards();
        self.note_room(number);
        if is_useless {
            self.give_back(number);
        }
        made.map(|()| number)
    }

    /// Adds a slab. Without enough memory, tries half as many stacks, a quarter, and so on.
    fn add_slab(&mut self, pool: PoolAddress) -> io::Result<usize> {
        self.make_room()?;
        let is_first = self.slabs.iter().all(Option::is_none);
        let mut slots = self.next_slots.min(self.shape.most_slots());
        loop {
            // Without any stack, no coroutine could run: a first stack may take the address space
            // that is left to others.
            let need = if is_first && slots == 1 { Need::Urgent } else { Need::Usual };
            match Slab::map(self.shape, slots, need, pool).and_then(Occupied::new) {
                Ok(occupied) => return Ok(self.place(occupied)),
                Err(_) if slots > 1 => slots /= 2,
                Err(error) => return Err(error),
            }
        }
    }

    /// Makes room for one more slab, and for all that may be placed again.
    fn make_room(&mut self) -> io::Result<()> {
        self.slabs.try_reserve(self.leaving + 1)?;
        for list in [&mut self.with_cold, &mut self.unguarded, &mut self.refused] {
            list.make_room(self.slabs.capacity())?;
        }
        Ok(())
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

    /// Enters a slab in the lists that fit its stacks.
    fn note_room(&mut self, number: usize) {
        let Some(occupied) = &self.slabs[number] else { return };
        let file = |list: &mut Numbers, belongs| {
            if belongs {
                list.insert(number);
            } else {
                list.remove(number);
            }
        };
        file(&mut self.with_cold, occupied.has_cold());
        file(&mut self.unguarded, occupied.has_unguarded());
    }

    /// Settles a removed slab: either the system has unmapped it, or it has refused, and the slab
    /// is placed again. Its stacks are cold then, and as good as others.
    pub(super) fn settle(&mut self, unmapped: Result<(), Occupied>) {
        self.leaving -= 1;
        if let Err(occupied) = unmapped {
            let number = self.place(occupied);
            self.refused.insert(number);
        }
    }

    /// Tries again to unmap refused slabs. They have no memory, so this is quick.
    pub(super) fn retry_refused(&mut self) {
        let mut next = 0;
        while let Some(number) = self.refused.next(next) {
            // If the slab is placed again, it gets this number or a lower one.
            next = number + 1;
            self.give_back(number);
        }
    }

    /// Unmaps a slab of which no stack is warm or out.
    fn give_back(&mut self, number: usize) {
        let unmapped = self.remove(number).give_back();
        self.settle(unmapped);
    }

    /// Takes stacks back. They are warm from now on.
    pub(super) fn put_back(&mut self, stacks: impl IntoIterator<Item = RawStack>) {
        let before = self.warm.len();
        self.warm.extend(stacks);
        self.out -= self.warm.len() - before;
    }

    /// Returns how many stacks are warm.
    pub(super) fn warm(&self) -> usize {
        self.warm.len()
    }

    /// Records how many warm stacks were not needed since the last check, to be given back.
    pub(super) fn look(&mut self) {
        self.idle = std::mem::replace(&mut self.spare, self.warm.len());
    }

    /// Takes up to `most` from the number of stacks that are to be given back.
    pub(super) fn take_idle(&mut self, most: usize) -> usize {
        let taken = self.idle.min(most);
        self.idle -= taken;
        taken
    }

    /// Removes some of the `count` oldest warm stacks, to give their memory back: at least one, and
    /// whole slabs of which no stack is left, as far as `retired` has room. Returns how many were
    /// removed.
    pub(super) fn retire(&mut self, count: usize, retired: &mut Retired) -> usize {
        let count = count.min(self.warm.len());
        // Count as if all were removed: a slab without a warm or used stack then goes as a whole.
        for index in 0..count {
            self.occupied(self.warm[index]).warm_or_out -= 1;
        }
        let mut going = count;
        for index in (0..count).rev() {
            if !self.retire_one(self.warm[index], retired) {
                going -= 1;
                self.warm.swap(index, going);
            }
        }
        self.warm.drain(..going);
        self.spare = self.spare.min(self.warm.len());
        going
    }

    /// Returns whether there was room to remove a stack, alone or with its slab.
    fn retire_one(&mut self, stack: RawStack, retired: &mut Retired) -> bool {
        let number = stack.slab().number;
        // The slab was removed with an earlier stack of this loop.
        let Some(occupied) = &mut self.slabs[number] else { return true };
        let is_last = occupied.warm_or_out == 0;
        if is_last && !retired.slabs.is_full() {
            retired.slabs.push(self.remove(number));
            return true;
        }
        // A stack that is being cooled is not cold yet: its slab must stay meanwhile.
        occupied.warm_or_out += 1;
        let goes = !is_last && !retired.cooling.is_full();
        if goes {
            retired.cooling.push(stack);
        }
        goes
    }

    /// Makes the cooled stacks cold, since their memory is freed. Slabs of which no stack is warm
    /// or out take their place in `retired`.
    pub(super) fn cooled(&mut self, retired: &mut Retired) {
        for stack in retired.cooling.drain() {
            let (number, index) = (stack.slab().number, stack.slot().index);
            let occupied = self.occupied(stack);
            occupied.put_back(index);
            let is_empty = occupied.warm_or_out == 0;
            self.with_cold.insert(number);
            if is_empty && !retired.slabs.is_full() {
                retired.slabs.push(self.remove(number));
            } else if is_empty {
                // The next trim unmaps it.
                self.refused.insert(number);
            }
        }
    }

    fn occupied(&mut self, stack: RawStack) -> &mut Occupied {
        self.slabs[stack.slab().number].as_mut().expect("a slab is there while it has stacks")
    }

    fn remove(&mut self, number: usize) -> Occupied {
        for list in [&mut self.with_cold, &mut self.unguarded, &mut self.refused] {
            list.remove(number);
        }
        self.leaving += 1;
        self.next_slots = (self.next_slots / 2).max(FIRST_BATCH);
        self.slabs[number].take().expect("a slab is removed once")
    }

    /// Returns every slab and its guards.
    pub(super) fn slabs(&self) -> impl Iterator<Item = (&Slab, Guards)> {
        self.slabs.iter().flatten().map(|occupied| (&*occupied.slab, occupied.guards))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use core::ptr::NonNull;

    use super::super::size::{LARGEST_CLASS, SizeClass};
    use super::*;

    /// The number of stacks of this class in a slab.
    const IN_A_SLAB: usize = 3;

    fn class() -> Class {
        let class = SizeClass::of(LARGEST_CLASS / (IN_A_SLAB + 1)).expect("a class");
        Class::new(Shape::new(class, 1, sys::page_size()), GuardKind::best())
    }

    /// Takes all stacks of new slabs. None of them uses its pool.
    fn take(class: &mut Class, slabs: usize) -> Vec<RawStack> {
        let take = |_| class.take_cold(PoolAddress(NonNull::dangling())).expect("a stack");
        let stacks = (0..slabs * IN_A_SLAB).map(take).collect();
        assert_eq!(class.slabs().count(), slabs);
        stacks
    }

    /// Returns stacks and starts to cool them, up to where the class is unlocked for that.
    fn begin_to_cool(class: &mut Class, stacks: impl IntoIterator<Item = RawStack>) -> Retired {
        let mut retired = Retired::new();
        class.put_back(stacks);
        let warm = class.warm();
        assert_eq!(class.retire(warm, &mut retired), warm);
        assert_eq!((retired.cooling.iter().count(), retired.slabs.iter().count()), (warm, 0));
        retired
    }

    /// Gives all warm stacks back, with their slabs. Returns how many.
    fn trim(class: &mut Class) -> usize {
        let mut retired = Retired::new();
        let count = class.retire(usize::MAX, &mut retired);
        unmap(class, &mut retired);
        count
    }

    /// Unmaps the slabs that were removed. Returns how many.
    fn unmap(class: &mut Class, retired: &mut Retired) -> usize {
        retired.slabs.drain().map(|slab| class.settle(slab.give_back())).count()
    }

    #[test]
    fn stacks_that_were_not_needed_between_two_looks_are_given_back_once() {
        let mut class = class();
        let stacks = take(&mut class, 3);
        class.put_back(stacks);
        class.look();
        assert_eq!(class.take_idle(100), 0, "all were needed before the first look");
        let needed = [class.take_warm(), class.take_warm()].map(|stack| stack.expect("a warm stack"));
        class.put_back(needed);
        class.look();
        assert_eq!([3, 3, 3].map(|most| class.take_idle(most)), [3, 3, 1]);
        class.look();
        let needed: Vec<_> = (0..5).map(|_| class.take_warm().expect("a warm stack")).collect();
        assert_eq!(class.take_idle(100), 4, "five of nine were needed since");
        class.put_back(needed);
        assert_eq!(trim(&mut class), 9);
        assert_eq!((class.slabs().count(), class.leaving), (0, 0));
    }

    #[test]
    fn a_slab_goes_with_the_last_of_its_stacks_that_is_cooled() {
        let mut class = class();
        let stacks = take(&mut class, 1);
        let mut first = begin_to_cool(&mut class, stacks[..1].iter().copied());
        let mut second = begin_to_cool(&mut class, stacks[1..].iter().copied());
        class.cooled(&mut first);
        assert_eq!(unmap(&mut class, &mut first), 0, "two stacks are being cooled");
        class.cooled(&mut second);
        assert_eq!(unmap(&mut class, &mut second), 1);
        assert_eq!((class.slabs().count(), class.leaving), (0, 0));
    }

    #[test]
    fn slabs_beyond_those_that_can_go_at_once_go_later() {
        const SLABS: usize = 9;
        let mut class = class();
        let stacks = take(&mut class, SLABS);
        let (firsts, others): (Vec<_>, Vec<_>) =
            stacks.into_iter().partition(|stack| stack.slot().index == 0);
        let mut first = begin_to_cool(&mut class, firsts);
        let mut second = begin_to_cool(&mut class, others);
        class.cooled(&mut first);
        class.cooled(&mut second);
        assert_eq!(unmap(&mut class, &mut second), SLABS - 1);
        assert_eq!(class.slabs().count(), 1);
        class.retry_refused();
        assert_eq!((class.slabs().count(), class.leaving), (0, 0));
    }
}
