//! The contents of a blocking queue, and how values pass from pushers to poppers. All of it happens
//! under the lock of the wait queue: it moves values but never drops them, and allocates nothing.
//!
//! All waiters are of one kind: poppers, while the queue is empty, or pushers, while it is full. A
//! caller that changes this serves the waiters in order. It moves a value into or out of the slot
//! of a waiter before it claims the waiter. If the claim fails, it moves the value back.

use std::cell::Cell;
use std::collections::VecDeque;

use crate::rt::{Claimed, Locked, drop_each, pick};

/// The values, and how many there may be.
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

/// The slot of a waiter.
pub(super) struct QueueWaitSlot<T> {
    brings: bool,
    /// For a pusher, its value, until a popper takes it. For a popper, the value that it was
    /// handed.
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

/// The result of offering a value.
pub(super) enum Offered<T> {
    /// The value is in the ring, or was handed to the claimed popper, which the caller must wake.
    Accepted(Option<Claimed>),
    Refused(T),
}

impl<T> Contents<T> {
    /// Returns the size of a new ring if this one has no room for the next value. The caller
    /// allocates it without the lock.
    pub(super) fn wants_ring(&self) -> Option<usize> {
        let len = self.values.len();
        let wants = !self.is_stopped && len < self.capacity && len == self.values.capacity();
        wants.then(|| len.saturating_mul(2).max(4).min(self.capacity))
    }

    /// Moves the values into `ring` if that is larger, and leaves the old ring there.
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

    /// Returns whether a pusher has nothing to wait for.
    pub(super) fn is_open(&self) -> bool {
        self.is_stopped || self.is_taking() || self.is_empty() && self.values.len() < self.capacity
    }

    /// Returns whether a popper has nothing to wait for.
    pub(super) fn is_filled(&self) -> bool {
        self.is_stopped || self.is_bringing() || !self.values.is_empty()
    }

    /// Returns whether no waiting pusher can be let in.
    pub(super) fn is_settled(&self) -> bool {
        self.is_stopped || !self.is_bringing() || self.values.len() >= self.capacity
    }

    /// Hands the value to the first popper, or stores it. The caller has made room in the ring.
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

    /// Takes the oldest value, and lets in a waiting pusher.
    pub(super) fn take(&mut self) -> Option<(T, Option<Claimed>)> {
        match self.values.pop_front() {
            Some(value) => Some((value, self.admit())),
            // The capacity was raised, and not all waiting pushers have been let in yet.
            None => self.take_brought().map(|(value, claimed)| (value, Some(claimed))),
        }
    }

    /// Moves the value of the first waiting pusher into the ring, if there is room.
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
