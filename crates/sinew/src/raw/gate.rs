//! Those who wait until something has come about, and all go on when it has. Knows neither what that is nor whether it lasts.
//!
//! What has come about is a word of the user's, which it changes under the lock of the queue when that makes others go on. Whoever finds it
//! so waits for nothing, and asks no lock; whoever does not looks once more under the lock, and is in the queue when the change comes.
//!
//! It may be undone a moment later, and come about again. So those who go on are those who were there: each has the number of the opening
//! that it waits for, and whoever comes while others are still being woken is not taken for one of them.

use std::cell::Cell;

use crate::rt::sync::constant;
use crate::rt::{Limit, Locked, Outcome, Place, Queue, WaitKind, Wakes, pick};

/// How often it was opened.
pub(super) type Openings = u64;

/// How often it had been opened when a waiter came.
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

    /// Waits until it is opened, unless it `is_open`.
    pub(crate) fn wait(&self, kind: WaitKind, limit: Limit, is_open: impl Fn() -> bool) -> Outcome {
        let enter = |queue: &mut Locked<'_, Openings, Came>, came: &Came| {
            if is_open() { None } else { place(queue, came) }
        };
        self.queue.wait(kind, new_comer(), limit, enter).0
    }

    /// Has all go on who are here, if what is changed by this, under the lock, lets them.
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

/// What one tells who has not waited yet.
pub(super) fn new_comer() -> Came {
    Cell::new(Openings::MAX)
}

/// Where to wait; nowhere, if it was opened since the waiter came, and it was taken for one that had given up.
pub(super) fn place(queue: &Locked<'_, Openings, Came>, came: &Came) -> Option<Place> {
    if came.get() < **queue {
        return None;
    }
    came.set(**queue);
    Some(Place::Back)
}
