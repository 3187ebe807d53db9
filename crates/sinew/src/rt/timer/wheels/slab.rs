//! The entries of timers, in one allocation. Each has a generation, so that a late cancel never
//! cancels another timer. Knows nothing of time.

use sinew_sched::prefetch;

use super::chunk::Spot;
use super::wheel::{Tick, WheelSlot};
use crate::rt::wait::WaitTimerId;

const NONE: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct TimerSlab<T> {
    entries: Vec<SlabEntry<T>>,
    /// The free entries, as a list through `next_free`.
    free: u32,
    len: usize,
}

/// In one cache line: with many timers, each access to an entry fetches it from memory.
#[derive(Debug)]
#[repr(align(64))]
struct SlabEntry<T> {
    generation: u64,
    tick: Tick,
    next_free: u32,
    /// The slot whose list contains the entry. `None` while it is due.
    place: Option<WheelSlot>,
    spot: Spot,
    /// `None` if the entry is free.
    what: Option<T>,
}

impl<T> TimerSlab<T> {
    pub(super) fn new() -> Self {
        Self { entries: Vec::new(), free: NONE, len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns how many entries exist, used or free.
    #[cfg(all(test, not(loom)))]
    pub(super) fn capacity(&self) -> usize {
        self.entries.len()
    }

    /// Adds an entry that is in no list. Returns its index and identifier.
    #[inline]
    pub(super) fn insert(&mut self, tick: Tick, what: T) -> (u32, WaitTimerId) {
        self.len += 1;
        let index = self.free;
        let Some(entry) = self.entries.get_mut(index as usize) else { return self.add(tick, what) };
        self.free = entry.next_free;
        (entry.tick, entry.what) = (tick, Some(what));
        (index, WaitTimerId { index, generation: entry.generation })
    }

    #[cold]
    fn add(&mut self, tick: Tick, what: T) -> (u32, WaitTimerId) {
        let index = u32::try_from(self.entries.len()).ok().filter(|index| *index != NONE);
        let index = index.expect("fewer than 2^32 timers");
        let (place, spot, what) = (None, Spot::NONE, Some(what));
        self.entries.push(SlabEntry { generation: 0, tick, next_free: NONE, place, spot, what });
        (index, WaitTimerId { index, generation: 0 })
    }

    /// Frees an entry that is in no list.
    pub(super) fn remove(&mut self, index: u32) -> T {
        let free = std::mem::replace(&mut self.free, index);
        let entry = &mut self.entries[index as usize];
        entry.generation += 1;
        entry.next_free = free;
        self.len -= 1;
        entry.what.take().expect("an entry that is set")
    }

    /// Returns the entry with this identifier, if it is still in use.
    pub(super) fn find(&self, timer: WaitTimerId) -> Option<u32> {
        let entry = self.entries.get(timer.index as usize)?;
        (entry.generation == timer.generation && entry.what.is_some()).then_some(timer.index)
    }

    pub(super) fn tick(&self, index: u32) -> Tick {
        self.entries[index as usize].tick
    }

    /// Returns the list that contains an entry, and its place there.
    pub(super) fn place(&self, index: u32) -> (Option<WheelSlot>, Spot) {
        let entry = &self.entries[index as usize];
        (entry.place, entry.spot)
    }

    pub(super) fn set_place(&mut self, index: u32, place: Option<WheelSlot>, spot: Spot) {
        let entry = &mut self.entries[index as usize];
        (entry.place, entry.spot) = (place, spot);
    }

    /// Prefetches an entry that is needed soon.
    pub(super) fn prefetch(&self, index: u32) {
        prefetch(&raw const self.entries[index as usize]);
    }
}
