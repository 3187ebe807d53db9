//! What is in a blocking queue, and how it passes from those who bring it to those who take it. All of it is under the lock of the wait
//! queue: values are moved here, and never dropped, and nothing is allocated.
//!
//! Those who wait are all of one kind: they wait to take, and nothing is there; or they wait to bring, and it is full. Whoever changes
//! that serves them, in turn. A value is left in the node of one who waits, or taken out of it, before that is claimed, and goes back where
//! it was if the claim fails.

use std::cell::Cell;
use std::collections::VecDeque;

use crate::rt::{Claimed, Locked, drop_each, pick};

/// What is there, and how much may be.
pub(super) struct Contents<T> {
    pub(super) values: VecDeque<T>,
    pub(super) capacity: usize,
    pub(super) is_stopped: bool,
}

impl<T> Drop for Contents<T> {
    fn drop(&mut self) {
        drop_each(|| self.values.pop_front());
    }
}

/// One who waits.
pub(super) struct QueueWaitSlot<T> {
    brings: bool,
    /// What it brings, until that is taken; or what it takes, once that is there.
    value: Cell<Option<T>>,
}

impl<T> QueueWaitSlot<T> {
    pub(super) fn bringing(value: T) -> Self {
        Self { brings: true, value: Cell::new(Some(value)) }
    }

    pub(super) fn taking() -> Self {
        Self { brings: false, value: Cell::new(None) }
    }

    pub(super) fn into_value(self) -> Option<T> {
        self.value.into_inner()
    }
}

/// What came of a value.
pub(super) enum Offered<T> {
    /// It is there, or somebody has it who is to go on.
    Accepted(Option<Claimed>),
    Refused(T),
}

impl<T> Contents<T> {
    /// The size of a new ring, if this one has no place for a value that may come. The new one is made without the lock.
    pub(super) fn wants_ring(&self) -> Option<usize> {
        let len = self.values.len();
        let wants = !self.is_stopped && len < self.capacity && len == self.values.capacity();
        wants.then(|| len.saturating_mul(2).max(4).min(self.capacity))
    }

    /// Moves into a ring that has more places, and leaves the old one there.
    pub(super) fn move_into(&mut self, ring: &mut VecDeque<T>) {
        if ring.capacity() > self.values.capacity() {
            ring.append(&mut self.values);
            std::mem::swap(ring, &mut self.values);
        }
    }
}

impl<T> Locked<'_, Contents<T>, QueueWaitSlot<T>> {
    fn is_taking(&self) -> bool {
        self.first().is_some_and(|wait_slot| !wait_slot.brings)
    }

    fn is_bringing(&self) -> bool {
        self.first().is_some_and(|wait_slot| wait_slot.brings)
    }

    /// Whether whoever brings a value has nothing to wait for.
    pub(super) fn is_open(&self) -> bool {
        self.is_stopped || self.is_taking() || self.is_empty() && self.values.len() < self.capacity
    }

    /// Whether whoever takes one has nothing to wait for.
    pub(super) fn is_filled(&self) -> bool {
        self.is_stopped || self.is_bringing() || !self.values.is_empty()
    }

    /// Whether nobody is left who could be let in.
    pub(super) fn is_settled(&self) -> bool {
        self.is_stopped || !self.is_bringing() || self.values.len() >= self.capacity
    }

    /// Brings a value: for the one who has waited longest, or for whoever comes. There is a place for it in the ring.
    pub(super) fn offer(&mut self, value: T) -> Offered<T> {
        if self.is_stopped || !self.is_open() {
            return Offered::Refused(value);
        }
        let value = Cell::new(Some(value));
        while self.is_taking() {
            let give = |wait_slot: &QueueWaitSlot<T>| wait_slot.value.set(value.take());
            let claimed = self.try_claim(pick::First, give, |wait_slot| value.set(wait_slot.value.take()));
            if claimed.is_some() {
                return Offered::Accepted(claimed);
            }
        }
        value.into_inner().into_iter().for_each(|value| self.values.push_back(value));
        Offered::Accepted(None)
    }

    /// Takes the value that has been here longest. One who waits to bring one may go on then.
    pub(super) fn take(&mut self) -> Option<(T, Option<Claimed>)> {
        match self.values.pop_front() {
            Some(value) => Some((value, self.admit())),
            // It is being made larger, and those who wait have not all been served.
            None => self.take_brought().map(|(value, claimed)| (value, Some(claimed))),
        }
    }

    /// Lets in what the first one brings who waits, if there is room.
    pub(super) fn admit(&mut self) -> Option<Claimed> {
        let has_room = self.values.len() < self.capacity && self.values.len() < self.values.capacity();
        let (value, claimed) = has_room.then(|| self.take_brought())??;
        self.values.push_back(value);
        Some(claimed)
    }

    fn take_brought(&mut self) -> Option<(T, Claimed)> {
        let value = Cell::new(None);
        while self.is_bringing() && !self.is_stopped {
            let take = |wait_slot: &QueueWaitSlot<T>| value.set(wait_slot.value.take());
            let claimed = self.try_claim(pick::First, take, |wait_slot| wait_slot.value.set(value.take()));
            if let Some(claimed) = claimed {
                return value.take().map(|value| (value, claimed));
            }
        }
        None
    }
}
