//! The word of a mutex, and who waits for it.
//!
//! Whoever finds it free takes it, even if others wait: a lock that is given back and taken again by those who run is worth many
//! times one that goes through the queue. What keeps that fair: one waiter at a time is *awake* and tries, and is before all others
//! if it has to wait again; and if it waits again though it has waited for longer than [`PATIENCE`], the mutex is *strict*: it is
//! handed to the first waiter when it is given back, and nobody else takes it.
//!
//! | bit | set | cleared |
//! | --- | --- | --- |
//! | locked | by whoever takes it, or hands it over, under the lock of the queue | by its owner |
//! | queued | under the lock of the queue, by whoever enters it | under that lock, when the queue is empty |
//! | awake | under that lock, before one is woken | by the one that was woken, when it takes the mutex, enters the queue again or gives up; under that lock, if there was none |
//! | strict | under that lock, by the waiter that was awake | under that lock, when it is handed over; with queued |
//!
//! It is free for all if it is neither locked nor strict.
//!
//! No wake-up is lost. A waiter enters the queue, under its lock, with the change of the word that shows it queued, and only if that
//! finds the mutex not free: then there is an owner, or one that is about to be, and when that gives it back, it sees the bit. It
//! wakes one then, unless one is awake, or somebody has taken the mutex meanwhile, who sees the same bit later. The one that is awake
//! takes the mutex, or finds it not free in the change that ends its being awake. If it gives up before either, since it is to stop, it
//! ends its being awake then, and wakes the next one, if the mutex is free.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::rt::sync::{AtomicU32, Ordering, constant, spin_loop};
use crate::rt::{self, Claimed, GaveUp, Limit, Locked, Outcome, Place, Queue, WaitKind, pick};

const LOCKED: u32 = 1;
const QUEUED: u32 = 1 << 1;
const AWAKE: u32 = 1 << 2;
const STRICT: u32 = 1 << 3;

/// How long a waiter lets others go first. Not at all for the checker, which has no time and is to see what comes then.
const PATIENCE: Duration = if cfg!(loom) { Duration::ZERO } else { Duration::from_millis(1) };

/// How often one that is awake tries, and a thread that comes new.
const TRIES: u32 = if cfg!(loom) { 0 } else { 32 };

/// Whether a waiter was handed the mutex.
type Handed = Cell<bool>;

/// The mutex.
pub(crate) struct RawMutex {
    word: AtomicU32,
    queue: Queue<(), Handed>,
}

/// One who tries.
struct MutexContender {
    limit: Limit,
    /// It is the one that is awake.
    is_awake: bool,
    /// It has waited since then.
    since: Option<Instant>,
}

impl RawMutex {
    constant! {
        pub(crate) fn new() -> Self {
            Self { word: AtomicU32::new(0), queue: Queue::new(()) }
        }
    }

    #[inline]
    pub(crate) fn try_lock(&self) -> bool {
        // Acquire, here and wherever it is taken: pairs with the release of the owner before.
        match self.word.compare_exchange(0, LOCKED, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => true,
            Err(word) => is_free(word) && self.try_lock_slow(),
        }
    }

    #[cold]
    fn try_lock_slow(&self) -> bool {
        let take = |word| is_free(word).then_some(word | LOCKED);
        self.word.fetch_update(Ordering::Acquire, Ordering::Relaxed, take).is_ok()
    }

    #[inline]
    pub(crate) fn lock(&self) {
        if !self.try_lock() {
            // Nothing ends the wait but the mutex.
            let _ = self.lock_slow(Limit::NEVER);
        }
    }

    /// [`lock`](Self::lock), for an operation that has waited already, and must have the mutex when it ends.
    #[inline]
    pub(crate) fn lock_again(&self) {
        if !self.try_lock() {
            // Nothing ends the wait but the mutex.
            let _ = self.lock_slow(Limit::NEVER.later());
        }
    }

    /// # Errors
    ///
    /// If the limit is reached before.
    #[inline]
    pub(crate) fn lock_within(&self, limit: Limit) -> Result<(), GaveUp> {
        if self.try_lock() { Ok(()) } else { self.lock_slow(limit) }
    }

    #[inline(never)]
    #[cold]
    fn lock_slow(&self, limit: Limit) -> Result<(), GaveUp> {
        let mut contender = MutexContender { limit, is_awake: false, since: None };
        loop {
            if contender.tries(self) {
                return Ok(());
            }
            match contender.waits(self) {
                (Outcome::NotNeeded, _) => return Ok(()),
                (Outcome::Woken, handed) if handed.get() => return Ok(()),
                (Outcome::Woken, _) => contender.is_awake = true,
                // It is free, if the one that is awake has not come to run yet.
                (Outcome::TimedOut, _) if self.try_lock() => return Ok(()),
                (outcome, _) => {
                    contender.gives_up(self);
                    return outcome.into_result();
                }
            }
        }
    }

    /// The queue may be empty now.
    fn tidy(&self, queue: &Locked<'_, (), Handed>) {
        if queue.is_empty() {
            // Relaxed: the bits say nothing of the value.
            self.word.fetch_and(!(QUEUED | STRICT), Ordering::Relaxed);
        }
    }

    /// For its owner.
    #[inline]
    pub(crate) fn unlock(&self) {
        // Release: pairs with the acquire of the next owner.
        let word = self.word.fetch_sub(LOCKED, Ordering::Release);
        if word != LOCKED {
            self.unlock_slow(word);
        }
    }

    #[inline(never)]
    #[cold]
    fn unlock_slow(&self, word: u32) {
        if word & (QUEUED | AWAKE) == QUEUED {
            self.settle();
        }
    }

    /// Wakes the first one who waits, if the mutex is free and nobody is awake.
    fn settle(&self) {
        let mut queue = self.queue.lock();
        self.tidy(&queue);
        let word = self.word.load(Ordering::Relaxed);
        if word & QUEUED == 0 || word & (LOCKED | AWAKE) != 0 {
            return;
        }
        let is_strict = word & STRICT != 0;
        // Before one is claimed, since it clears the bit, or has the mutex, from then on.
        let (set, cleared) = if is_strict { (LOCKED, STRICT) } else { (AWAKE, 0) };
        self.change(|word| (word | set) & !cleared);
        let claimed = queue.claim(pick::First, |handed| handed.set(is_strict), |_| ());
        match claimed {
            None => self.change(|word| word & !(QUEUED | set)),
            Some(_) if queue.is_empty() => self.change(|word| word & !QUEUED),
            Some(_) => {}
        }
        drop(queue);
        claimed.into_iter().for_each(Claimed::go);
    }

    fn change(&self, change: impl Fn(u32) -> u32) {
        // Acquire: pairs with the release of the owner before, for the one that it is handed to, who sees it by being claimed.
        let _ = self.word.fetch_update(Ordering::Acquire, Ordering::Relaxed, |word| Some(change(word)));
    }
}

/// Whether anybody may take it.
#[inline]
fn is_free(word: u32) -> bool {
    word & (LOCKED | STRICT) == 0
}

impl MutexContender {
    fn is_impatient(&self) -> bool {
        self.since.is_some_and(|since| rt::now().saturating_duration_since(since) >= PATIENCE)
    }

    /// Tries to take it for a while.
    fn tries(&self, mutex: &RawMutex) -> bool {
        for _ in 0..TRIES {
            let word = mutex.word.load(Ordering::Relaxed);
            if is_free(word) && self.take(mutex, word) {
                return true;
            }
            if word & STRICT != 0 || !self.relax(word) {
                return false;
            }
        }
        false
    }

    /// Before the next try. False, if there is to be none: a fiber that comes new waits at once, since its worker has others to run.
    fn relax(&self, word: u32) -> bool {
        if self.is_awake && rt::give_way() {
            return true;
        }
        let may_spin = (self.is_awake || word & QUEUED == 0) && rt::running().is_none();
        if may_spin {
            spin_loop();
        }
        may_spin
    }

    /// The word of a mutex that is free becomes that of one that this has.
    fn take(&self, mutex: &RawMutex, word: u32) -> bool {
        let new = (word | LOCKED) & !self.awake();
        mutex.word.compare_exchange(word, new, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// It is in no queue any more, and will not take the mutex.
    #[cold]
    fn gives_up(&self, mutex: &RawMutex) {
        // It still is the one that is awake if it was to stop before it could wait again. Relaxed: as in `tidy`.
        if self.is_awake {
            mutex.word.fetch_and(!AWAKE, Ordering::Relaxed);
        }
        mutex.settle();
    }

    fn awake(&self) -> u32 {
        if self.is_awake { AWAKE } else { 0 }
    }

    /// Waits in the queue, unless the mutex is free.
    fn waits(&mut self, mutex: &RawMutex) -> (Outcome, Handed) {
        let place = if self.is_awake { Place::Front } else { Place::Back };
        let strict = if self.is_awake && self.is_impatient() { STRICT } else { 0 };
        self.since.get_or_insert_with(rt::now);
        // The one that is awake has a duty: others wait for what it does next.
        let limit = self.limit.next_wait();
        mutex.queue.wait(WaitKind::Mutex, Cell::new(false), limit, |_, _| {
            let awake = self.awake();
            // Not for one that is asked again, since it was taken for one that had given up: another one may be awake by then.
            let strict = if awake != 0 { strict } else { 0 };
            let change = |word: u32| {
                let entered = word | QUEUED | strict;
                Some(if is_free(word) { word | LOCKED } else { entered } & !awake)
            };
            let before = mutex.word.fetch_update(Ordering::Acquire, Ordering::Relaxed, change);
            self.is_awake = false;
            before.is_ok_and(|word| !is_free(word)).then_some(place)
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_who_waited_finds_an_empty_queue() {
        let mutex = RawMutex::new();
        assert!(mutex.try_lock());
        let is_queued = || mutex.word.load(Ordering::Relaxed) & QUEUED != 0;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                mutex.lock_within(Limit::NEVER).expect("nothing ends the wait but the lock");
                // Otherwise it would be the one to tidy up, at the price of a slow unlock.
                assert!(!is_queued());
                mutex.unlock();
            });
            while !is_queued() {
                std::thread::yield_now();
            }
            mutex.unlock();
        });
    }
}
