//! Waiters for a condition that wakes all of them when it becomes true. Knows neither the condition
//! nor how long it stays true.
//!
//! The condition is a word of the type that uses the gate. That type changes the word under the
//! lock of the queue if the change wakes waiters. A caller that finds the condition true does not
//! wait and needs no lock. Any other caller checks again under the lock, and is in the queue when
//! the change comes.
//!
//! The condition may become false a moment later, and true again. So only the waiters that were
//! there at the time return: each waiter has the number of the opening that it waits for, and
//! callers that come while others are still being woken are not mistaken for them.

use std::cell::Cell;

use crate::rt::sync::constant;
use crate::rt::{Limit, Locked, Outcome, Place, Queue, WaitKind, Wakes, pick};

/// How often the gate was opened.
pub(super) type Openings = u64;

/// How often the gate had been opened when a waiter came.
pub(super) type Came = Cell<Openings>;

/// The gate.
pub(crate) struct RawGate {
    pub(super) queue: Queue<Openings, Came>,
}

impl RawGate {
    constant! {
        pub(crate) fn new() -> Self {
            Self { queue: Queue::new(0) }
        }
    }

    /// Waits until the gate is opened, unless `is_open` returns true.
    pub(crate) fn wait(&self, kind: WaitKind, limit: Limit, is_open: impl Fn() -> bool) -> Outcome {
        let enter = |queue: &mut Locked<'_, Openings, Came>, came: &Came| {
            if is_open() { None } else { place(queue, came) }
        };
        self.queue.wait(kind, new_comer(), limit, enter).0
    }

    /// Runs `change` under the lock, and wakes all current waiters if it returns true.
    pub(crate) fn open_if(&self, change: impl FnOnce() -> bool) {
        let mut queue = self.queue.lock();
        if !change() {
            return;
        }
        *queue += 1;
        let now = *queue;
        while !queue.is_empty() {
            let mut wakes = Wakes::new();
            while !wakes.is_full() && queue.first().is_some_and(|came| came.get() < now) {
                queue
                    .try_claim(pick::First, |_| (), |_| ())
                    .into_iter()
                    .for_each(|claimed| wakes.add(claimed));
            }
            let is_done = !wakes.is_full();
            drop(queue);
            wakes.go();
            if is_done {
                return;
            }
            queue = self.queue.lock();
        }
    }
}

/// Returns the slot of a caller that has not waited yet.
pub(super) fn new_comer() -> Came {
    Cell::new(Openings::MAX)
}

/// Returns where to wait. Returns `None` if the gate was opened since the waiter came: then the
/// claim of that opening failed on this waiter.
pub(super) fn place(queue: &Locked<'_, Openings, Came>, came: &Came) -> Option<Place> {
    if came.get() < **queue {
        return None;
    }
    came.set(**queue);
    Some(Place::Back)
}
