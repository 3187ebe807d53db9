//! A caller that tries to acquire a reader-writer lock: how often, for how long, and where it waits
//! after that.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::word::{AWAKE, Mode, QUEUED, STRICT};
use super::{RawRwLock, Waiting, WakeReason};
use crate::rt::sync::{Ordering, spin_loop};
use crate::rt::{self, Limit, Outcome, Place, WaitKind};

/// How long a waiter lets newcomers acquire the lock first. Zero under the model checker, which has
/// no time, so that it checks the strict mode.
pub(super) const PATIENCE: Duration = if cfg!(loom) { Duration::ZERO } else { Duration::from_millis(1) };

/// How often a woken waiter tries, and a thread that has not waited yet.
const TRIES: u32 = if cfg!(loom) { 0 } else { 32 };

/// How often a fiber that has not waited yet tries. Holders that need only a few instructions have
/// left by then. For longer ones, the fiber waits, since its worker has other fibers to run.
const FIBER_TRIES: u32 = 4;

/// A caller that tries to acquire the lock.
pub(super) struct RwLockContender {
    mode: Mode,
    limit: Limit,
    /// It is the awake waiter.
    pub(super) is_awake: bool,
    /// It has been in the queue.
    has_waited: bool,
    /// When it began to wait.
    since: Option<Instant>,
}

impl RwLockContender {
    pub(super) fn new(mode: Mode, limit: Limit) -> Self {
        Self { mode, limit, is_awake: false, has_waited: false, since: None }
    }

    fn is_impatient(&self) -> bool {
        self.since.is_some_and(|since| rt::now().saturating_duration_since(since) >= PATIENCE)
    }

    /// Tries for a while to acquire the lock.
    pub(super) fn tries(&self, lock: &RawRwLock) -> bool {
        for round in 0..TRIES {
            match lock.take(self.mode, self.awake()) {
                Ok(_) => return true,
                Err(word) if word & STRICT != 0 || !self.relax(word, round) => return false,
                Err(_) => {}
            }
        }
        false
    }

    /// Pauses before the next try. Returns false if there should be none.
    fn relax(&self, word: u64, round: u32) -> bool {
        if self.has_waited && rt::give_way() {
            return !self.is_impatient();
        }
        let may_spin = match rt::running() {
            Some(_) => round < FIBER_TRIES,
            None => self.has_waited || word & QUEUED == 0,
        };
        if may_spin {
            spin_loop();
        }
        may_spin
    }

    fn awake(&self) -> u64 {
        if self.is_awake { AWAKE } else { 0 }
    }

    /// Waits in the queue, unless the lock is free.
    pub(super) fn waits(&mut self, lock: &RawRwLock) -> (Outcome, WakeReason) {
        let strict = if self.is_impatient() { STRICT } else { 0 };
        self.since.get_or_insert_with(rt::now);
        let mode = self.mode;
        let kind = if mode == Mode::Read { WaitKind::RwLockRead } else { WaitKind::RwLockWrite };
        // Other waiters depend on what the awake waiter does next, so its waits never panic: where
        // a fiber must not suspend, they block its worker.
        let limit = self.limit.next_wait();
        let waiting = Waiting { mode, told: Cell::new(WakeReason::Try) };
        let (outcome, waiting) = lock.queue.wait(kind, waiting, limit, |_, _| {
            let awake = self.awake();
            let change = |word: u64| {
                let entered = word | QUEUED | strict;
                Some(if mode.is_free(word) { word + mode.unit() } else { entered } & !awake)
            };
            let before = lock.word.fetch_update(Ordering::Acquire, Ordering::Relaxed, change);
            self.is_awake = false;
            // The readers behind a waiter that has already waited depend on it.
            let place = if self.has_waited { Place::Front } else { Place::Back };
            self.has_waited = true;
            before.is_ok_and(|word| !mode.is_free(word)).then_some(place)
        });
        (outcome, waiting.told.get())
    }

    /// Called after it has left the queue without the lock, and will not try again.
    #[cold]
    pub(super) fn gives_up(&self, lock: &RawRwLock) {
        // It is still the awake waiter if it was stopped before it could wait again. Relaxed: as in
        // `tidy`.
        if self.is_awake {
            lock.word.fetch_and(!AWAKE, Ordering::Relaxed);
        }
        lock.settle(false);
    }
}
