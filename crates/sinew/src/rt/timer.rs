//! Timers of one core: when, and which wait to end then. Entries live in a slab, each with a generation, so that whoever is
//! late never cancels another one's; a cancelled entry is gone at once. Knows no clock.
//!
//! A heap of four children to a node, in which every entry knows its place.

use std::time::Instant;

use super::waiter::Waiter;

/// Names a timer for as long as it is set, and nothing afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimerId {
    slot: u32,
    generation: u32,
}

/// The timers.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    slots: Vec<Slot>,
    /// Slots that are free, as a list through `Slot::place`.
    free: Option<u32>,
    heap: Vec<Entry>,
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    /// Where in the heap, or the next free slot.
    place: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    when: Instant,
    slot: u32,
    waiter: Waiter,
}

const CHILDREN: usize = 4;

impl Timers {
    /// When the first one is due.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.heap.first().map(|entry| entry.when)
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Sets a timer.
    pub(crate) fn set(&mut self, when: Instant, waiter: Waiter) -> TimerId {
        let slot = self.take_slot();
        self.heap.push(Entry { when, slot, waiter });
        self.rise(self.heap.len() - 1);
        TimerId { slot, generation: self.slots[slot as usize].generation }
    }

    /// Cancels a timer; false, if it is gone.
    pub(crate) fn cancel(&mut self, timer: TimerId) -> bool {
        let slot = self.slots.get(timer.slot as usize).filter(|slot| slot.generation == timer.generation);
        let Some(place) = slot.and_then(|slot| slot.place) else { return false };
        self.remove(place as usize);
        true
    }

    /// Takes the first one out, if it is due.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<Waiter> {
        self.next().filter(|when| *when <= now)?;
        Some(self.remove(0).waiter)
    }

    fn take_slot(&mut self) -> u32 {
        match self.free {
            Some(index) => {
                self.free = self.slots[index as usize].place.take();
                index
            }
            None => {
                let index = u32::try_from(self.slots.len()).expect("fewer than 2^32 timers");
                self.slots.push(Slot { generation: 0, place: None });
                index
            }
        }
    }

    fn remove(&mut self, place: usize) -> Entry {
        let entry = self.heap.swap_remove(place);
        if place < self.heap.len() {
            self.rise(place);
            self.sink(place);
        }
        let slot = &mut self.slots[entry.slot as usize];
        slot.generation = slot.generation.wrapping_add(1);
        slot.place = self.free.replace(entry.slot);
        entry
    }

    /// Moves an entry up for as long as it is due before the one above it.
    fn rise(&mut self, mut place: usize) {
        while place > 0 && self.heap[place].when < self.heap[(place - 1) / CHILDREN].when {
            let above = (place - 1) / CHILDREN;
            self.heap.swap(place, above);
            self.note(place);
            place = above;
        }
        self.note(place);
    }

    /// Moves an entry down for as long as one below it is due before it.
    fn sink(&mut self, mut place: usize) {
        while let Some(below) = self.first_below(place) {
            if self.heap[below].when >= self.heap[place].when {
                break;
            }
            self.heap.swap(place, below);
            self.note(place);
            place = below;
        }
        self.note(place);
    }

    fn first_below(&self, place: usize) -> Option<usize> {
        let below = place * CHILDREN + 1..(place * CHILDREN + 1 + CHILDREN).min(self.heap.len());
        below.min_by_key(|&below| self.heap[below].when)
    }

    fn note(&mut self, place: usize) {
        let slot = self.heap[place].slot;
        self.slots[slot as usize].place = Some(place as u32);
    }
}
