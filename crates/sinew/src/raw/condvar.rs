//! Who waits for a condition, and gives a mutex back meanwhile. Knows no value.
//!
//! No notification is lost: a waiter is in the queue before it gives the mutex back, so that whoever has had the mutex since then
//! finds it there.

use std::cell::Cell;

use super::RawMutex;
use crate::rt::sync::constant;
use crate::rt::{Claimed, Limit, Locked, Outcome, Place, Queue, WaitKind, pick};

/// The condition.
pub(crate) struct RawCondvar {
    queue: Queue<(), ()>,
}

impl RawCondvar {
    constant! {
        pub(crate) fn new() -> Self {
            Self { queue: Queue::new(()) }
        }
    }

    /// Gives the mutex back, waits, and takes it again, whatever ended the wait.
    #[inline]
    pub(crate) fn wait(&self, mutex: &RawMutex, limit: Limit) -> Outcome {
        let is_given_back = Cell::new(false);
        let give_back = || {
            mutex.unlock();
            is_given_back.set(true);
        };
        // One that is asked again was taken for one that had given up, and the notification that did so may have found nobody else. It may
        // go on for no reason, so it does.
        let enter = |_: &mut Locked<'_, (), ()>, (): &()| (!is_given_back.get()).then_some(Place::Back);
        let (outcome, ()) = self.queue.wait_then(WaitKind::Condvar, (), limit, enter, give_back);
        // One that was to stop before it could wait has it still.
        if is_given_back.get() {
            mutex.lock_again();
        }
        outcome
    }

    #[inline]
    pub(crate) fn notify_one(&self) {
        // Whoever waits has had the mutex before the caller, if the notification is for it.
        if !self.queue.seems_empty() {
            let claimed = self.queue.lock().claim(pick::First, |()| (), |()| ());
            claimed.into_iter().for_each(Claimed::go);
        }
    }

    #[inline]
    pub(crate) fn notify_all(&self) {
        if !self.queue.seems_empty() {
            self.queue.wake_all(|()| ());
        }
    }
}
