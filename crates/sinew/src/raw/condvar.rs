//! The queue of a condition variable, whose waiters release a mutex. Knows no value.
//!
//! No notification is lost: a waiter enters the queue before it releases the mutex, so a caller
//! that has locked the mutex since then finds it there.

use std::cell::Cell;

use super::RawMutex;
use crate::rt::sync::constant;
use crate::rt::{Claimed, Limit, Locked, Outcome, Place, Queue, WaitKind, pick};

/// The condition variable.
pub(crate) struct RawCondvar {
    queue: Queue<(), ()>,
}

impl RawCondvar {
    constant! {
        pub(crate) fn new() -> Self {
            Self { queue: Queue::new(()) }
        }
    }

    /// Releases the mutex, waits, and acquires the mutex again, for every outcome of the wait.
    #[inline]
    pub(crate) fn wait(&self, mutex: &RawMutex, limit: Limit) -> Outcome {
        let is_given_back = Cell::new(false);
        let give_back = || {
            mutex.unlock();
            is_given_back.set(true);
        };
        // If this runs again, the claim of a notification failed on this waiter, and may have found
        // no other waiter. Spurious wake-ups are allowed, so it returns.
        let enter = |_: &mut Locked<'_, (), ()>, (): &()| (!is_given_back.get()).then_some(Place::Back);
        let (outcome, ()) = self.queue.wait_then(WaitKind::Condvar, (), limit, enter, give_back);
        // A caller that was stopped before it could wait still holds the mutex.
        if is_given_back.get() {
            mutex.lock_again();
        }
        outcome
    }

    #[inline]
    pub(crate) fn notify_one(&self) {
        // A waiter that the notification is for has released the mutex before the caller locked it,
        // so the queue does not seem empty.
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
