//! The timers of a driver that call back, for whoever has the lock of all its timers: how many are set, whether others watch over them, and who
//! waits for the end of a callback. Knows no callback's state.
//!
//! # Safety
//!
//! Trusted with waking those who wait for the end of a callback: they pass the lock that is held here before they go on.
#![expect(unsafe_code, reason = "waiters are woken")]

use std::collections::BTreeMap;
use std::ops::RangeBounds;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use super::action::TimerAction;
use super::callback::Callback;
use super::timer_queue::{QueueGuard, TimerRing};
use crate::rt::wait::{Cause, WaitTimerId, Waiter, WakePlace};

/// What other threads see of it without the lock. Changed under the lock only, so that relaxed loads and stores suffice.
#[derive(Debug, Default)]
pub(crate) struct CallbackHints {
    /// How many timers are set that concern other workers: callbacks, and waits of fibers that may move.
    shared: AtomicUsize,
    /// Idle workers were told to watch this driver while its own worker is busy. Stays set for a while when no such timer is
    /// left, so that a series of timers that are set and cancelled tells them once.
    is_watched: AtomicBool,
}

impl CallbackHints {
    pub(crate) fn is_watched(&self) -> bool {
        self.is_watched.load(Ordering::Relaxed)
    }

    /// Whether others watch, and there is nothing to watch for.
    pub(crate) fn is_watched_in_vain(&self) -> bool {
        self.is_watched() && self.shared.load(Ordering::Relaxed) == 0
    }

    /// A timer was taken out.
    #[inline]
    pub(crate) fn remove(&self, due: &TimerAction) {
        if due.concerns_others() {
            self.shared.store(self.shared.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        }
    }
}

/// What is under the lock of a driver's timers besides.
#[derive(Debug, Default)]
pub(crate) struct CallbackWaits {
    /// Whoever waits for the end of a callback: by the address of its timer, which whoever waits keeps, and by number.
    waits: BTreeMap<(usize, u64), Waiter>,
    last_wait: u64,
    /// The runtime is over: what runs may never end.
    is_over: bool,
    /// No timer is set any more.
    is_closed: bool,
}

/// The timers, under their lock.
pub(crate) struct TimersGuard<'a> {
    held: QueueGuard<'a, TimerAction, CallbackWaits>,
    hints: &'a CallbackHints,
    asks: bool,
}

/// What is to be done when the lock is not held any more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Afterwards {
    pub(crate) ring: TimerRing,
    /// Others are to be told that there is something to watch for.
    pub(crate) asks: bool,
}

impl<'a> TimersGuard<'a> {
    #[inline]
    pub(crate) fn new(held: QueueGuard<'a, TimerAction, CallbackWaits>, hints: &'a CallbackHints) -> Self {
        Self { held, hints, asks: false }
    }

    /// Gives the lock back.
    #[inline]
    pub(crate) fn leave(self) -> Afterwards {
        Afterwards { asks: self.asks, ring: self.held.release() }
    }

    /// Sets a timer that ends a wait. Returns `None` if the runtime is over, and the wait with it.
    pub(crate) fn set_wake(
        &mut self,
        when: Instant,
        waiter: Waiter,
        wakes: WakePlace,
    ) -> Option<WaitTimerId> {
        self.set(when, || TimerAction::Wake(waiter, wakes))
    }

    /// Sets a timer that calls back. Returns `None` if the runtime is over.
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

    /// Cancels a timer that calls back, and returns it. It must not be dropped here: a user's destructor would run under the lock.
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

    /// Others need not watch any more, unless there is something.
    pub(crate) fn end_watch(&mut self) {
        if self.hints.is_watched_in_vain() {
            self.hints.is_watched.store(false, Ordering::Relaxed);
        }
    }

    /// Somebody waits for the end of a timer's callback. The number of the wait; none, if that end may never come.
    pub(crate) fn wait(&mut self, timer: &Callback, waiter: Waiter) -> Option<u64> {
        let waits = self.held.beside();
        if waits.is_over {
            return None;
        }
        waits.last_wait += 1;
        waits.waits.insert((timer.address(), waits.last_wait), waiter);
        Some(waits.last_wait)
    }

    /// Somebody waits no longer.
    pub(crate) fn give_up(&mut self, timer: &Callback, wait: u64) {
        self.held.beside().waits.remove(&(timer.address(), wait));
    }

    /// The callback of a timer has ended.
    pub(crate) fn wake(&mut self, timer: &Callback) {
        let address = timer.address();
        self.wake_those((address, 0)..=(address, u64::MAX));
    }

    /// The runtime is over: nobody waits any longer for callbacks that may never end.
    pub(crate) fn abandon(&mut self) {
        self.held.beside().is_over = true;
        self.wake_those(..);
    }

    /// Nothing is set any more from now on. Returns all that was.
    pub(crate) fn close(&mut self) -> impl Iterator<Item = TimerAction> + use<> {
        self.abandon();
        self.held.beside().is_closed = true;
        self.hints.shared.store(0, Ordering::Relaxed);
        self.held.take_all()
    }

    fn wake_those(&mut self, waits: impl RangeBounds<(usize, u64)>) {
        for (_, waiter) in self.held.beside().waits.extract_if(waits, |_, _| true) {
            // SAFETY: whoever waits passes the lock that is held here before it goes on, and takes its wait back there if it was not this that
            // ended it.
            unsafe { waiter.wake(Cause::Event) };
        }
    }
}
