//! Wheels of 64 slots, each slot of one as long as a turn of the finer one. Knows moments and lists, not what is in them.
//!
//! A moment is a number of ticks, read as digits of six bits. It lies in the wheel of the highest digit in which it differs from now, in the
//! slot of that digit's value. So all of a finer wheel comes before all of a coarser one, and the first slot of the first wheel
//! that has any is the first of all.

use std::time::Duration;

use super::slab::List;

/// A tick is 4,096 ns.
pub(super) const TICK_BITS: u32 = 12;

/// Rounding makes it no coarser than so many ticks: 1.05 ms.
const MOST_ROUNDED_BITS: u32 = 8;

const DIGIT_BITS: u32 = 6;
const SLOTS: usize = 1 << DIGIT_BITS;
/// Enough for all nanoseconds that 64 bits can count.
const WHEELS: usize = (u64::BITS - TICK_BITS).div_ceil(DIGIT_BITS) as usize;

/// A moment, in ticks since the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Tick(u64);

impl Tick {
    const LAST: u64 = u64::MAX >> TICK_BITS;

    /// The first tick that is not before this moment.
    pub(super) fn not_before(since_start: Duration) -> Self {
        let nanos = since_start.as_nanos().saturating_add((1 << TICK_BITS) - 1);
        Self(u64::try_from(nanos >> TICK_BITS).unwrap_or(u64::MAX).min(Self::LAST))
    }

    /// The last tick that is not after this moment.
    pub(super) fn not_after(since_start: Duration) -> Self {
        Self(u64::try_from(since_start.as_nanos() >> TICK_BITS).unwrap_or(u64::MAX).min(Self::LAST))
    }

    /// The same or a little later, so that many that are far off are due at one and the same tick: by no more than a thousandth of the time
    /// from this moment until then, and never by more than about a millisecond.
    pub(super) fn rounded(self, from: Self) -> Self {
        let grain = (self.0.saturating_sub(from.0) >> 10).min(1 << MOST_ROUNDED_BITS);
        // The largest power of two that is not above it, less one: the bits that are rounded away.
        let below = grain.checked_ilog2().map_or(0, |bits| (1 << bits) - 1);
        Self(((self.0 + below) & !below).min(Self::LAST))
    }

    pub(super) fn since_start(self) -> Duration {
        Duration::from_nanos(self.0 << TICK_BITS)
    }
}

/// A slot of a wheel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    wheel: u8,
    slot: u8,
}

impl Place {
    /// Whether all in it are due at the same tick.
    pub(super) fn is_exact(self) -> bool {
        self.wheel == 0
    }
}

#[derive(Debug)]
pub(super) struct Wheels {
    now: Tick,
    wheels: [Wheel; WHEELS],
    /// Which wheels have anything, a bit for each.
    occupied: u16,
}

#[derive(Clone, Copy, Debug)]
struct Wheel {
    /// Which slots have anything, a bit for each.
    occupied: u64,
    slots: [List; SLOTS],
}

impl Wheels {
    pub(super) fn new() -> Self {
        let wheel = Wheel { occupied: 0, slots: [List::EMPTY; SLOTS] };
        Self { now: Tick(0), wheels: [wheel; WHEELS], occupied: 0 }
    }

    pub(super) fn now(&self) -> Tick {
        self.now
    }

    /// Where a moment lies from now; nowhere, if it has come.
    pub(super) fn place_of(&self, tick: Tick) -> Option<Place> {
        if tick <= self.now {
            return None;
        }
        let highest = (tick.0 ^ self.now.0).ilog2();
        let wheel = highest / DIGIT_BITS;
        let slot = (tick.0 >> (wheel * DIGIT_BITS)) as usize % SLOTS;
        Some(Place { wheel: wheel as u8, slot: slot as u8 })
    }

    /// When a slot begins, which lies before now's next turn of its wheel.
    pub(super) fn start_of(&self, place: Place) -> Tick {
        let shift = u32::from(place.wheel) * DIGIT_BITS;
        let digits = (self.now.0 >> shift) & !(SLOTS as u64 - 1) | u64::from(place.slot);
        Tick(digits << shift)
    }

    /// The first slot that has anything.
    pub(super) fn first(&self) -> Option<Place> {
        let wheel = self.occupied.checked_ilog2().map(|_| self.occupied.trailing_zeros())?;
        let slot = self.wheels[wheel as usize].occupied.trailing_zeros();
        Some(Place { wheel: wheel as u8, slot: slot as u8 })
    }

    pub(super) fn peek(&self, place: Place) -> &List {
        &self.wheels[usize::from(place.wheel)].slots[usize::from(place.slot)]
    }

    /// What is in a slot, to be changed. It has to be [noted](Self::note) then.
    pub(super) fn list(&mut self, place: Place) -> &mut List {
        &mut self.wheels[usize::from(place.wheel)].slots[usize::from(place.slot)]
    }

    /// Notes whether a slot has anything.
    pub(super) fn note(&mut self, place: Place) {
        let wheel = &mut self.wheels[usize::from(place.wheel)];
        let (bit, is_empty) = (1_u64 << place.slot, wheel.slots[usize::from(place.slot)].is_empty());
        wheel.occupied = if is_empty { wheel.occupied & !bit } else { wheel.occupied | bit };
        let bit = 1_u16 << place.wheel;
        self.occupied = if wheel.occupied == 0 { self.occupied & !bit } else { self.occupied | bit };
    }

    /// Takes all that is in a slot.
    pub(super) fn take(&mut self, place: Place) -> List {
        let list = std::mem::replace(self.list(place), List::EMPTY);
        self.note(place);
        list
    }

    /// It is later now. Nothing may lie in slots that have been reached by then.
    pub(super) fn turn(&mut self, to: Tick) {
        self.now = self.now.max(to);
    }
}
