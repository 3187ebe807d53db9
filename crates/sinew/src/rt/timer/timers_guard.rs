//! The locked timers of a driver: arming and cancelling, how many timers concern other workers,
//! whether those watch, and the waiters for the end of a callback. Knows no callback's state.
//!
//! # Safety
//!
//! Trusted with waking the waiters for the end of a callback: they acquire the lock that is held
//! here before they continue.
#![expect(unsafe_code, reason = "waiters are woken")]

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use super::action::TimerAction;
use super::callback::Callback;
use super::timer_queue::{QueueGuard, TimerRing};
use crate::rt::wait::{Cause, WaitTimerId, Waiter, WakePlace};

/// Data about the timers that other threads read without the lock. Changed only under the lock, so
/// relaxed loads and stores suffice.
#[derive(Debug, Default)]
pub(crate) struct CallbackHints {
    /// How many armed timers concern other workers: callbacks, and waits of fibers that may
    /// migrate.
    shared: AtomicUsize,
    /// Whether idle workers watch this driver while its own worker is busy. Stays set for a while
    /// when no such timer is left, so that a series of timers that are armed and cancelled notifies
    /// them once.
    is_watched: AtomicBool,
}

impl CallbackHints {
    pub(crate) fn is_watched(&self) -> bool {
        self.is_watched.load(Ordering::Relaxed)
    }

    /// Returns whether other workers watch, and there is nothing to watch for.
    pub(crate) fn is_watched_in_vain(&self) -> bool {
        self.is_watched() && self.shared.load(Ordering::Relaxed) == 0
    }

    /// Records that a timer was taken out.
    #[inline]
    pub(crate) fn remove(&self, due: &TimerAction) {
        if due.concerns_others() {
            self.shared.store(self.shared.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        }
    }
}

/// The other data under the lock of a driver's timers.
#[derive(Debug, Default)]
pub(crate) struct CallbackWaits {
    /// The waiters for the end of a callback: by the address of its timer, which the waiter keeps
    /// alive, in the order of their numbers.
    waits: HashMap<usize, Vec<(u64, Waiter)>>,
    last_wait: u64,
    /// Whether the runtime is over, so that a running callback may never end.
    is_over: bool,
    /// Whether no timer may be armed any more.
    is_closed: bool,
}

/// The timers of a driver, locked.
pub(crate) struct TimersGuard<'a> {
    held: QueueGuard<'a, TimerAction, CallbackWaits>,
    hints: &'a CallbackHints,
    asks: bool,
}

/// What is left to do after the lock is released.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Afterwards {
    pub(crate) ring: TimerRing,
    /// Notify other workers that there is something to watch for.
    pub(crate) asks: bool,
}

impl<'a> TimersGuard<'a> {
    #[inline]
    pub(crate) fn new(held: QueueGuard<'a, TimerAction, CallbackWaits>, hints: &'a CallbackHints) -> Self {
        Self { held, hints, asks: false }
    }

    /// Releases the lock.
    #[inline]
    pub(crate) fn leave(self) -> Afterwards {
        Afterwards { asks: self.asks, ring: self.held.release() }
    }

    /// Arms a timer that ends a wait. Returns `None` if the runtime is over, which ends the wait.
    pub(crate) fn set_wake(
        &mut self,
        when: Instant,
        waiter: Waiter,
        wakes: WakePlace,
    ) -> Option<WaitTimerId> {
        self.set(when, || TimerAction::Wake(waiter, wakes))
    }

    /// Arms a timer with a callback. Returns `None` if the runtime is over.
    #[inline]
    pub(crate) fn set_call(&mut self, when: Instant, callback: &Callback) -> Option<WaitTimerId> {
        self.set(when, || TimerAction::CallbackFiber(callback.clone()))
    }

    #[inline]
    fn set(&mut self, when: Instant, due: impl FnOnce() -> TimerAction) -> Option<WaitTimerId> {
        if self.held.beside().is_closed {
            return None;
        }
        let due = due();
        if due.concerns_others() {
            let shared = &self.hints.shared;
            shared.store(shared.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            if !self.hints.is_watched() {
                self.hints.is_watched.store(true, Ordering::Relaxed);
                self.asks = true;
            }
        }
        Some(self.held.set(when, due))
    }

    /// Cancels a timer that ends a wait. Does nothing if it has ended the wait.
    pub(crate) fn cancel_wake(&mut self, timer: WaitTimerId) {
        self.held.cancel(timer).iter().for_each(|due| self.hints.remove(due));
    }

    /// Cancels a timer with a callback, and returns it. It must not be dropped under the lock,
    /// where a user's destructor would run.
    #[inline]
    #[must_use]
    pub(crate) fn cancel_call(&mut self, timer: WaitTimerId) -> Option<Callback> {
        let due = self.held.cancel(timer)?;
        self.hints.remove(&due);
        match due {
            TimerAction::CallbackFiber(callback) => Some(callback),
            TimerAction::Wake(..) => None,
        }
    }

    /// Ends the watch of other workers, unless there is something to watch for.
    pub(crate) fn end_watch(&mut self) {
        if self.hints.is_watched_in_vain() {
            self.hints.is_watched.store(false, Ordering::Relaxed);
        }
    }

    /// Registers a waiter for the end of a timer's callback. Returns the number of the wait, or
    /// `None` if that end may never come.
    pub(crate) fn wait(&mut self, timer: &Callback, waiter: Waiter) -> Option<u64> {
        let waits = self.held.beside();
        if waits.is_over {
            return None;
        }
        waits.last_wait += 1;
        waits.waits.entry(timer.address()).or_default().push((waits.last_wait, waiter));
        Some(waits.last_wait)
    }

    /// Unregisters a waiter.
    pub(crate) fn give_up(&mut self, timer: &Callback, wait: u64) {
        if let Entry::Occupied(mut waits) = self.held.beside().waits.entry(timer.address()) {
            if let Ok(place) = waits.get().binary_search_by_key(&wait, |(number, _)| *number) {
                waits.get_mut().remove(place);
            }
            if waits.get().is_empty() {
                waits.remove();
            }
        }
    }

    /// Wakes the waiters for the end of a timer's callback.
    pub(crate) fn wake(&mut self, timer: &Callback) {
        let waits = self.held.beside().waits.remove(&timer.address());
        self.wake_those(waits);
    }

    /// Ends the waits for callbacks that may never end, when the runtime is over.
    pub(crate) fn abandon(&mut self) {
        self.held.beside().is_over = true;
        let waits = mem::take(&mut self.held.beside().waits);
        self.wake_those(waits.into_values());
    }

    /// Refuses new timers from now on. Returns all present ones.
    pub(crate) fn close(&mut self) -> impl Iterator<Item = TimerAction> + use<> {
        self.abandon();
        self.held.beside().is_closed = true;
        self.hints.shared.store(0, Ordering::Relaxed);
        self.held.take_all()
    }

    /// Wakes waiters that were taken out under the lock, which is still held.
    fn wake_those(&mut self, waits: impl IntoIterator<Item = Vec<(u64, Waiter)>>) {
        for (_, waiter) in waits.into_iter().flatten() {
            // SAFETY: a waiter acquires the lock that is held here before it continues, and
            // unregisters there if something else has ended its wait.
            unsafe { waiter.wake(Cause::Event) };
        }
    }
}
