//! One who tries to have a lock for readers and writers: how often, for how long, and where it waits then.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::word::{AWAKE, Mode, QUEUED, STRICT};
use super::{RawRwLock, Waiting, WakeReason};
use crate::rt::sync::{Ordering, spin_loop};
use crate::rt::{self, Limit, Outcome, Place, WaitKind};

/// How long a waiter lets others go first. Not at all for the checker, which has no time and is to see what comes then.
pub(super) const PATIENCE: Duration = if cfg!(loom) { Duration::ZERO } else { Duration::from_millis(1) };

/// How often one that was woken tries, and a thread that comes new.
const TRIES: u32 = if cfg!(loom) { 0 } else { 32 };

/// How often a fiber that comes new does: those who have the lock for a few instructions are through by then, and for whoever takes
/// longer, its worker has others to run.
const FIBER_TRIES: u32 = 4;

/// One who tries.
pub(super) struct RwLockContender {
    mode: Mode,
    limit: Limit,
    /// It is the one that is awake.
    pub(super) is_awake: bool,
    /// It has been in the queue.
    has_waited: bool,
    /// It has waited since then.
    since: Option<Instant>,
}

impl RwLockContender {
    pub(super) fn new(mode: Mode, limit: Limit) -> Self {
        Self { mode, limit, is_awake: false, has_waited: false, since: None }
    }

    fn is_impatient(&self) -> bool {
        self.since.is_some_and(|since| rt::now().saturating_duration_since(since) >= PATIENCE)
    }

    /// Tries to take it for a while.
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

    /// Before the next try. False, if there is to be none.
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
        // The one that is awake has a duty: others wait for what it does next.
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
            // One that is here again has readers behind it that know of it.
            let place = if self.has_waited { Place::Front } else { Place::Back };
            self.has_waited = true;
            before.is_ok_and(|word| !mode.is_free(word)).then_some(place)
        });
        (outcome, waiting.told.get())
    }

    /// It is in no queue any more, and will not take the lock.
    #[cold]
    pub(super) fn gives_up(&self, lock: &RawRwLock) {
        // It still is the one that is awake if it was to stop before it could wait again. Relaxed: as in `tidy`.
        if self.is_awake {
            lock.word.fetch_and(!AWAKE, Ordering::Relaxed);
        }
        lock.settle(false);
    }
}
