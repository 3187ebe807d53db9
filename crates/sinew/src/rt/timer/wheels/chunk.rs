//! Lists of timers, with several timers in each cache line. A thread that walks along a list knows
//! the next few timers before it needs them, and prefetches all of them at once. Knows timers only
//! by their numbers.
//!
//! A timer that is taken out of the middle leaves a gap, and a chunk of nothing but gaps is freed.
//! So taking one out touches one chunk and no other timer, the order stays, and a list has no more
//! chunks than timers.

const NONE: u32 = u32::MAX;
/// How many timers fit into a chunk.
pub(super) const CHUNK: usize = 13;

/// A list: its first and last chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkList {
    first: u32,
    last: u32,
}

impl ChunkList {
    pub(super) const EMPTY: Self = Self { first: NONE, last: NONE };

    pub(super) fn is_empty(self) -> bool {
        self.first == NONE
    }
}

/// The place of a timer in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    chunk: u32,
    offset: u8,
}

impl Spot {
    /// No place.
    pub(super) const NONE: Self = Self { chunk: NONE, offset: 0 };
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Chunk {
    next: u32,
    previous: u32,
    /// How many items were used, including gaps.
    used: u8,
    /// # Invariant
    ///
    /// How many of those are not gaps. Zero only in a free chunk.
    live: u8,
    items: [u32; CHUNK],
}

const _: () = assert!(size_of::<Chunk>() == 64, "a chunk is one cache line");

/// The chunks of all lists.
#[derive(Debug)]
pub(super) struct Chunks {
    chunks: Vec<Chunk>,
    /// The free chunks, as a list through `next`.
    free: u32,
}

impl Chunks {
    pub(super) fn new() -> Self {
        Self { chunks: Vec::new(), free: NONE }
    }

    /// Returns how many chunks exist, used or free.
    #[cfg(all(test, not(loom)))]
    pub(super) fn capacity(&self) -> usize {
        self.chunks.len()
    }

    fn at(&mut self, chunk: u32) -> &mut Chunk {
        &mut self.chunks[chunk as usize]
    }

    /// Appends a timer to a list. Returns its place.
    pub(super) fn append(&mut self, list: &mut ChunkList, timer: u32) -> Spot {
        let has_room = list.last != NONE && usize::from(self.at(list.last).used) < CHUNK;
        if !has_room {
            self.add_chunk(list);
        }
        let chunk = self.at(list.last);
        let offset = chunk.used;
        chunk.items[usize::from(offset)] = timer;
        chunk.used += 1;
        chunk.live += 1;
        Spot { chunk: list.last, offset }
    }

    fn add_chunk(&mut self, list: &mut ChunkList) {
        let new = self.take_free();
        *self.at(new) = Chunk { next: NONE, previous: list.last, used: 0, live: 0, items: [NONE; CHUNK] };
        match list.last {
            NONE => list.first = new,
            last => self.at(last).next = new,
        }
        list.last = new;
    }

    fn take_free(&mut self) -> u32 {
        if self.free != NONE {
            let free = self.free;
            self.free = self.at(free).next;
            return free;
        }
        let new = u32::try_from(self.chunks.len()).ok().filter(|new| *new != NONE);
        self.chunks.push(Chunk { next: NONE, previous: NONE, used: 0, live: 0, items: [NONE; CHUNK] });
        new.expect("fewer chunks than timers")
    }

    /// Takes a timer out of its list.
    pub(super) fn remove(&mut self, list: &mut ChunkList, spot: Spot) {
        let chunk = self.at(spot.chunk);
        chunk.items[usize::from(spot.offset)] = NONE;
        chunk.live -= 1;
        // A timer that is armed and cancelled again and again stays in one place.
        if spot.offset + 1 == chunk.used {
            chunk.used -= 1;
        }
        if chunk.live == 0 {
            self.remove_chunk(list, spot.chunk);
        }
    }

    fn remove_chunk(&mut self, list: &mut ChunkList, chunk: u32) {
        let Chunk { next, previous, .. } = *self.at(chunk);
        match previous {
            NONE => list.first = next,
            previous => self.at(previous).next = next,
        }
        match next {
            NONE => list.last = previous,
            next => self.at(next).previous = previous,
        }
        self.at(chunk).next = self.free;
        self.free = chunk;
    }

    /// Returns the first timer of a list, and its place.
    pub(super) fn first(&self, list: ChunkList) -> Option<(u32, Spot)> {
        let chunk = self.chunks.get(list.first as usize)?;
        let (offset, timer) = chunk.items.iter().enumerate().find(|(_, timer)| **timer != NONE)?;
        Some((*timer, Spot { chunk: list.first, offset: offset as u8 }))
    }

    /// Takes the first chunk of timers out of a list.
    pub(super) fn take_chunk(
        &mut self,
        list: &mut ChunkList,
    ) -> Option<impl Iterator<Item = u32> + Clone + use<>> {
        let items = self.chunks.get(list.first as usize)?.items;
        self.remove_chunk(list, list.first);
        Some(items.into_iter().filter(|timer| *timer != NONE))
    }

    /// Returns the timers of a list.
    pub(super) fn iter(&self, list: ChunkList) -> impl Iterator<Item = u32> {
        let at = |chunk: u32| self.chunks.get(chunk as usize);
        let chunks = std::iter::successors(at(list.first), move |chunk| at(chunk.next));
        chunks.flat_map(|chunk| chunk.items).filter(|timer| *timer != NONE)
    }
}
