//! Entries of timers in one piece of memory, and lists through them. Each has a generation, so that whoever is late never cancels
//! another one's. Knows nothing of time.

use super::wheel::{Place, Tick};

/// Names a timer for as long as it is set, and nothing afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimerId {
    index: u32,
    /// Never the same again for this index: 64 bits do not run over.
    generation: u64,
}

const NONE: u32 = u32::MAX;

/// A list of entries: the first one's `previous` is the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    first: u32,
}

impl List {
    pub(super) const EMPTY: Self = Self { first: NONE };

    pub(super) fn is_empty(self) -> bool {
        self.first == NONE
    }

    pub(super) fn first(self) -> Option<u32> {
        (!self.is_empty()).then_some(self.first)
    }
}

#[derive(Debug)]
pub(super) struct Slab<T> {
    entries: Vec<Entry<T>>,
    /// Free entries, as a list through `next`.
    free: u32,
    len: usize,
}

#[derive(Debug)]
struct Entry<T> {
    next: u32,
    previous: u32,
    generation: u64,
    /// The slot that its list is, if it is one.
    place: Option<Place>,
    tick: Tick,
    /// None, if it is free.
    what: Option<T>,
}

impl<T> Slab<T> {
    pub(super) fn new() -> Self {
        Self { entries: Vec::new(), free: NONE, len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Entries that there are, set or free.
    #[cfg(all(test, not(loom)))]
    pub(super) fn capacity(&self) -> usize {
        self.entries.len()
    }

    /// A new entry, in no list.
    pub(super) fn insert(&mut self, tick: Tick, what: T) -> u32 {
        self.len += 1;
        if self.free == NONE {
            let index = u32::try_from(self.entries.len()).ok().filter(|index| *index != NONE);
            let entry =
                Entry { next: NONE, previous: NONE, generation: 0, place: None, tick, what: Some(what) };
            self.entries.push(entry);
            return index.expect("fewer than 2^32 timers");
        }
        let index = self.free;
        let entry = &mut self.entries[index as usize];
        self.free = entry.next;
        (entry.tick, entry.what) = (tick, Some(what));
        index
    }

    /// Frees an entry that is in no list.
    pub(super) fn remove(&mut self, index: u32) -> T {
        let free = std::mem::replace(&mut self.free, index);
        let entry = &mut self.entries[index as usize];
        entry.generation += 1;
        entry.next = free;
        self.len -= 1;
        entry.what.take().expect("an entry that is set")
    }

    pub(super) fn id(&self, index: u32) -> TimerId {
        TimerId { index, generation: self.entries[index as usize].generation }
    }

    /// The entry of this name, if it is still set.
    pub(super) fn find(&self, timer: TimerId) -> Option<u32> {
        let entry = self.entries.get(timer.index as usize)?;
        (entry.generation == timer.generation && entry.what.is_some()).then_some(timer.index)
    }

    pub(super) fn tick(&self, index: u32) -> Tick {
        self.entries[index as usize].tick
    }

    pub(super) fn place(&self, index: u32) -> Option<Place> {
        self.entries[index as usize].place
    }

    /// Adds an entry to the end of a list, which is that of this slot.
    pub(super) fn append(&mut self, list: &mut List, index: u32, place: Option<Place>) {
        let last = match list.first() {
            None => {
                list.first = index;
                index
            }
            Some(first) => {
                let last = std::mem::replace(&mut self.entries[first as usize].previous, index);
                self.entries[last as usize].next = index;
                last
            }
        };
        let entry = &mut self.entries[index as usize];
        (entry.next, entry.previous, entry.place) = (NONE, last, place);
    }

    /// Takes an entry out of the list that it is in.
    pub(super) fn unlink(&mut self, list: &mut List, index: u32) {
        let Entry { next, previous, .. } = self.entries[index as usize];
        if list.first == index {
            list.first = next;
        } else {
            self.entries[previous as usize].next = next;
        }
        // The last one is known to the first.
        let after = if next == NONE { list.first } else { next };
        if after != NONE {
            self.entries[after as usize].previous = previous;
        }
    }

    /// The entries of a list.
    pub(super) fn iter(&self, list: &List) -> impl Iterator<Item = u32> {
        std::iter::successors(list.first(), |index| {
            let next = self.entries[*index as usize].next;
            (next != NONE).then_some(next)
        })
    }
}
