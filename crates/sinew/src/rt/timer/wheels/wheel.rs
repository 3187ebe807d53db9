//! Timing wheels of many slots. Each slot of a wheel lasts as long as a turn of the next finer
//! wheel. Knows moments and lists, but not the timers in them.
//!
//! A moment is a number of ticks, read as digits: the lowest has eight bits, all others ten. It
//! lies in the wheel of the highest digit in which it differs from the present, in the slot of that
//! digit's value. So all timers of a finer wheel come before all timers of a coarser one, and the
//! first occupied slot of the first occupied wheel is the first of all.
//!
//! The wheels are this large because every move to a finer wheel fetches a timer from memory again.
//! With a turn of the first wheel in 1 ms and of the second in 1.07 s, most timers are fetched
//! twice in their lives: when they are armed and when they are due.

use std::time::Duration;

use super::chunk::ChunkList;

/// A tick is 4,096 ns.
pub(super) const TICK_BITS: u32 = 12;

/// Rounding is not coarser than this power of two of ticks: 1.05 ms.
const MOST_ROUNDED_BITS: u32 = 8;

/// The bits of the lowest digit, and of each other digit.
const FIRST_BITS: u32 = 8;
const DIGIT_BITS: u32 = 10;
const FIRST_SLOTS: usize = 1 << FIRST_BITS;
const SLOTS: usize = 1 << DIGIT_BITS;
/// Enough for all nanoseconds that 64 bits can count.
const WHEELS: usize = 1 + (u64::BITS - TICK_BITS - FIRST_BITS).div_ceil(DIGIT_BITS) as usize;
const ALL_SLOTS: usize = FIRST_SLOTS + (WHEELS - 1) * SLOTS;

/// A moment, in ticks since the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tick(u64);

impl Tick {
    const LAST: u64 = u64::MAX >> TICK_BITS;

    /// Returns the first tick that is not before this moment.
    #[inline]
    pub(super) fn not_before(since_start: Duration) -> Self {
        Self(nanos(since_start).saturating_add((1 << TICK_BITS) - 1) >> TICK_BITS)
    }

    /// Returns the last tick that is not after this moment.
    pub(super) fn not_after(since_start: Duration) -> Self {
        Self(nanos(since_start) >> TICK_BITS)
    }

    /// Returns this tick or a slightly later one, so that distant timers are due at the same
    /// tick. The difference is at most a 64th of the time from `from` until then, and never more
    /// than about a millisecond.
    #[inline]
    pub(super) fn rounded(self, from: Self) -> Self {
        let grain = (self.0.saturating_sub(from.0) >> 6).min(1 << MOST_ROUNDED_BITS);
        // The largest power of two that is not above the grain, less one: the bits that are rounded
        // away.
        let below = grain.checked_ilog2().map_or(0, |bits| (1 << bits) - 1);
        Self(((self.0 + below) & !below).min(Self::LAST))
    }

    pub(super) fn since_start(self) -> Duration {
        Duration::from_nanos(self.0 << TICK_BITS)
    }
}

/// Returns the nanoseconds, or the largest number of 64 bits.
#[inline]
fn nanos(time: Duration) -> u64 {
    time.as_secs().saturating_mul(1_000_000_000).saturating_add(u64::from(time.subsec_nanos()))
}

/// A slot of a wheel, numbered through all wheels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WheelSlot(u16);

impl WheelSlot {
    fn new(wheel: usize, slot: usize) -> Self {
        Self((first_slot(wheel) + slot) as u16)
    }

    fn index(self) -> usize {
        usize::from(self.0)
    }

    fn wheel(self) -> usize {
        (self.index() + SLOTS - FIRST_SLOTS) / SLOTS
    }

    fn slot(self) -> usize {
        self.index() - first_slot(self.wheel())
    }

    /// Returns whether all timers in this slot are due at the same tick.
    pub(super) fn is_exact(self) -> bool {
        self.index() < FIRST_SLOTS
    }
}

/// Returns the number of the first slot of a wheel.
fn first_slot(wheel: usize) -> usize {
    if wheel == 0 { 0 } else { FIRST_SLOTS + (wheel - 1) * SLOTS }
}

/// Returns how many bits are below a wheel's digit.
fn shift(wheel: usize) -> u32 {
    if wheel == 0 { 0 } else { FIRST_BITS + (wheel as u32 - 1) * DIGIT_BITS }
}

/// Returns the bits of a wheel's digit, at their position.
fn digit_mask(wheel: usize) -> u64 {
    let slots = if wheel == 0 { FIRST_SLOTS } else { SLOTS };
    (slots as u64 - 1) << shift(wheel)
}

#[derive(Debug)]
pub(super) struct Wheels {
    now: Tick,
    slots: Box<[ChunkList]>,
    /// Which slots are occupied, one bit for each.
    occupied: [u64; ALL_SLOTS / 64],
    /// Which words of `occupied` have any bit, by wheel.
    words: [u16; WHEELS],
    /// Which wheels are occupied, one bit for each.
    wheels: u8,
}

impl Wheels {
    pub(super) fn new() -> Self {
        Self {
            now: Tick(0),
            slots: vec![ChunkList::EMPTY; ALL_SLOTS].into_boxed_slice(),
            occupied: [0; ALL_SLOTS / 64],
            words: [0; WHEELS],
            wheels: 0,
        }
    }

    pub(super) fn now(&self) -> Tick {
        self.now
    }

    /// Returns the slot of a moment, or `None` if the moment has come.
    #[inline]
    pub(super) fn place_of(&self, tick: Tick) -> Option<WheelSlot> {
        if tick <= self.now {
            return None;
        }
        let highest = (tick.0 ^ self.now.0).ilog2();
        let wheel = ((highest + DIGIT_BITS - FIRST_BITS) / DIGIT_BITS) as usize;
        let slot = (tick.0 & digit_mask(wheel)) >> shift(wheel);
        Some(WheelSlot::new(wheel, slot as usize))
    }

    /// Returns when a slot begins. It lies before the next turn of its wheel.
    pub(super) fn start_of(&self, place: WheelSlot) -> Tick {
        let wheel = place.wheel();
        let below = digit_mask(wheel) | ((1 << shift(wheel)) - 1);
        Tick(self.now.0 & !below | (place.slot() as u64) << shift(wheel))
    }

    /// Returns the first occupied slot.
    pub(super) fn first(&self) -> Option<WheelSlot> {
        if self.wheels == 0 {
            return None;
        }
        let wheel = self.wheels.trailing_zeros() as usize;
        let word = self.words[wheel].trailing_zeros() as usize;
        let bit = self.occupied[first_slot(wheel) / 64 + word].trailing_zeros() as usize;
        Some(WheelSlot::new(wheel, word * 64 + bit))
    }

    pub(super) fn peek(&self, place: WheelSlot) -> ChunkList {
        self.slots[place.index()]
    }

    /// Returns the list of a slot, to be changed. If the slot becomes occupied or empty, the caller
    /// [records](Self::note_first) that.
    #[inline]
    pub(super) fn list(&mut self, place: WheelSlot) -> &mut ChunkList {
        &mut self.slots[place.index()]
    }

    /// Records that a slot has become occupied.
    #[inline]
    pub(super) fn note_first(&mut self, place: WheelSlot) {
        let (wheel, word) = (place.wheel(), place.index() / 64);
        self.occupied[word] |= 1 << (place.index() % 64);
        self.words[wheel] |= 1 << (word - first_slot(wheel) / 64);
        self.wheels |= 1 << wheel;
    }

    /// Records that a slot has become empty.
    #[inline]
    pub(super) fn note_last(&mut self, place: WheelSlot) {
        let (wheel, word) = (place.wheel(), place.index() / 64);
        self.occupied[word] &= !(1 << (place.index() % 64));
        if self.occupied[word] == 0 {
            self.words[wheel] &= !(1 << (word - first_slot(wheel) / 64));
            if self.words[wheel] == 0 {
                self.wheels &= !(1 << wheel);
            }
        }
    }

    /// Takes the list of a slot.
    pub(super) fn take(&mut self, place: WheelSlot) -> ChunkList {
        let list = std::mem::replace(self.list(place), ChunkList::EMPTY);
        self.note_last(place);
        list
    }

    /// Advances the present to this tick. All slots that are reached must be empty.
    pub(super) fn turn(&mut self, to: Tick) {
        self.now = self.now.max(to);
    }
}
