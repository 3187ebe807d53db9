//! The timers of one core, with the moment and the action of each. Knows no clock: callers pass the
//! time.
//!
//! Hierarchical timing wheels: `wheel` determines the slot of a moment, `chunk` has the lists of
//! the timers in each slot, `slab` the entries. Arming and cancelling take the same time for any
//! number of timers. An entry moves to a finer wheel a few times at most before it is due.

mod chunk;
mod slab;
#[cfg(all(test, not(loom)))]
mod tests;
mod wheel;

use std::time::Instant;

use chunk::{ChunkList, Chunks};
use slab::TimerSlab;
use wheel::{Tick, Wheels};

use crate::rt::wait::WaitTimerId;

/// A slot with more timers than this is not searched for its first one.
const SEARCHED: usize = 16;

/// Timers, each with a value that is handed out when the timer is due.
#[derive(Debug)]
pub(crate) struct Timers<T> {
    /// The moment of tick 0.
    start: Instant,
    wheels: Wheels,
    chunks: Chunks,
    slab: TimerSlab<T>,
    /// The timers whose moment has come, in this order.
    due: ChunkList,
}

impl<T> Timers<T> {
    /// Returns an empty set of timers that starts at this moment.
    pub(crate) fn new(start: Instant) -> Self {
        let (wheels, chunks, slab) = (Wheels::new(), Chunks::new(), TimerSlab::new());
        Self { start, wheels, chunks, slab, due: ChunkList::EMPTY }
    }

    pub(crate) fn len(&self) -> usize {
        self.slab.len()
    }

    /// Arms a timer. It is due at this moment or a little later, never earlier: by up to one tick,
    /// or a 64th of the time until then if that is more, and by at most a millisecond, so that
    /// several timers can be handled at once. That time is counted from the last moment that was
    /// passed to these timers.
    pub(crate) fn set(&mut self, when: Instant, what: T) -> WaitTimerId {
        let tick = Tick::not_before(when.saturating_duration_since(self.start)).rounded(self.wheels.now());
        let (index, id) = self.slab.insert(tick, what);
        self.put(index, tick);
        id
    }

    /// Cancels a timer, and returns its value. Returns `None` if the timer is gone.
    pub(crate) fn cancel(&mut self, timer: WaitTimerId) -> Option<T> {
        let index = self.slab.find(timer)?;
        match self.slab.place(index) {
            (Some(place), spot) => {
                let list = self.wheels.list(place);
                self.chunks.remove(list, spot);
                if list.is_empty() {
                    self.wheels.note_last(place);
                }
            }
            (None, spot) => self.chunks.remove(&mut self.due, spot),
        }
        Some(self.slab.remove(index))
    }

    /// Takes out the next timer whose moment has come.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<T> {
        if self.due.is_empty() {
            self.catch_up(now);
        }
        let (index, spot) = self.chunks.first(self.due)?;
        self.chunks.remove(&mut self.due, spot);
        Some(self.slab.remove(index))
    }

    /// Advances the timers to this moment, or later.
    pub(crate) fn catch_up(&mut self, now: Instant) {
        self.advance(Tick::not_after(now.saturating_duration_since(self.start)));
    }

    /// Returns when to check again, which is not after the first timer is due. If many timers are
    /// due at about that time, it may be too early by less than what a wheel distinguishes.
    pub(crate) fn next(&self) -> Option<Instant> {
        let tick = if self.due.is_empty() { self.first_tick()? } else { self.wheels.now() };
        // A moment beyond the end of the clock never comes.
        self.start.checked_add(tick.since_start())
    }

    fn first_tick(&self) -> Option<Tick> {
        let place = self.wheels.first()?;
        let start = self.wheels.start_of(place);
        if place.is_exact() {
            return Some(start);
        }
        let list = self.wheels.peek(place);
        let few = self.chunks.iter(list).take(SEARCHED + 1).map(|index| self.slab.tick(index));
        let (count, first) = few.fold((0, None), |(count, first), tick| {
            (count + 1, Some(first.map_or(tick, |first: Tick| first.min(tick))))
        });
        if count > SEARCHED { Some(start) } else { first }
    }

    /// Puts an entry into the slot of its moment.
    #[inline]
    fn put(&mut self, index: u32, tick: Tick) {
        let place = self.wheels.place_of(tick);
        let list = place.map_or(&mut self.due, |place| self.wheels.list(place));
        let is_first = list.is_empty();
        let spot = self.chunks.append(list, index);
        self.slab.set_place(index, place, spot);
        if let Some(place) = place.filter(|_| is_first) {
            self.wheels.note_first(place);
        }
    }

    /// Turns the wheels up to this tick. Entries that are due go to `due`, and entries in a slot
    /// that is reached go to a finer wheel.
    fn advance(&mut self, to: Tick) {
        while let Some(place) = self.wheels.first().filter(|place| self.wheels.start_of(*place) <= to) {
            let start = self.wheels.start_of(place);
            let mut reached = self.wheels.take(place);
            self.wheels.turn(start);
            while let Some(timers) = self.chunks.take_chunk(&mut reached) {
                timers.clone().for_each(|index| self.slab.prefetch(index));
                timers.for_each(|index| self.put(index, self.slab.tick(index)));
            }
        }
        self.wheels.turn(to);
    }
}
