//! The word of a mutex, and the queue of its waiters.
//!
//! A caller that finds the mutex free acquires it, even if others wait: a mutex that running
//! callers release and acquire again is many times faster than a mutex that is handed over through
//! the queue. Two rules keep this fair. One waiter at a time is *awake* and tries; if it has to
//! wait again, it goes to the front of the queue. If it has to wait again after it has waited for
//! longer than [`PATIENCE`], the mutex becomes *strict*: its owner hands it to the first waiter on
//! release, and no other caller acquires it.
//!
//! | bit | set | cleared |
//! | --- | --- | --- |
//! | locked | by the caller that acquires it; under the lock of the queue, by the caller that hands it over | by its owner |
//! | queued | under the lock of the queue, by the waiter that enters it | under that lock, when the queue is empty |
//! | awake | under that lock, before a waiter is woken | by the woken waiter, when it acquires the mutex, enters the queue again or gives up; under that lock, if there was no waiter to wake |
//! | strict | under that lock, by the awake waiter | under that lock, when the mutex is handed over; together with queued |
//!
//! Any caller may acquire it if it is neither locked nor strict.
//!
//! No wake-up is lost. A waiter enters the queue, under its lock, together with the change of the
//! word that sets queued, and only if that change finds the mutex not free. So there is an owner,
//! or there is about to be one, which sees the bit when it releases the mutex. It then wakes a
//! waiter, unless a waiter is awake, or another caller has acquired the mutex meanwhile and will
//! see the same bit. The awake waiter either acquires the mutex, or finds it not free in the change
//! that clears awake. If it is stopped and gives up before either, it clears awake, and wakes the
//! next waiter if the mutex is free.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::rt::sync::{AtomicU32, Ordering, constant, spin_loop};
use crate::rt::{self, Claimed, GaveUp, Limit, Locked, Outcome, Place, Queue, WaitKind, pick};

const LOCKED: u32 = 1;
const QUEUED: u32 = 1 << 1;
const AWAKE: u32 = 1 << 2;
const STRICT: u32 = 1 << 3;

/// How long a waiter lets newcomers acquire the mutex first. Zero under the model checker, which
/// has no time, so that it checks the strict mode.
const PATIENCE: Duration = if cfg!(loom) { Duration::ZERO } else { Duration::from_millis(1) };

/// How often the awake waiter tries, and a thread that has not waited yet.
const TRIES: u32 = if cfg!(loom) { 0 } else { 32 };

/// Whether a waiter was handed the mutex.
type Handed = Cell<bool>;

/// The mutex.
pub(crate) struct RawMutex {
    word: AtomicU32,
    queue: Queue<(), Handed>,
}

/// A caller that tries to acquire the mutex.
struct MutexContender {
    limit: Limit,
    /// It is the awake waiter.
    is_awake: bool,
    /// When it began to wait.
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
        // Acquire, here and in all other acquisitions: pairs with the release of the previous
        // owner.
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
            // The result is always `Ok`: this limit never ends the wait.
            let _ = self.lock_slow(Limit::NEVER);
        }
    }

    /// Acquires the mutex as [`lock`](Self::lock) does, for an operation that has already waited
    /// and must have the mutex when it ends.
    #[inline]
    pub(crate) fn lock_again(&self) {
        if !self.try_lock() {
            // The result is always `Ok`: this limit never ends the wait.
            let _ = self.lock_slow(Limit::NEVER.later());
        }
    }

    /// # Errors
    ///
    /// Returns an error if the limit is reached first.
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
                // It is free if the awake waiter was woken but has not run yet.
                (Outcome::TimedOut, _) if self.try_lock() => return Ok(()),
                (outcome, _) => {
                    contender.gives_up(self);
                    return outcome.into_result();
                }
            }
        }
    }

    /// Clears the bits of the queue if it is empty.
    fn tidy(&self, queue: &Locked<'_, (), Handed>) {
        if queue.is_empty() {
            // Relaxed: these bits do not order accesses to the value.
            self.word.fetch_and(!(QUEUED | STRICT), Ordering::Relaxed);
        }
    }

    /// Releases the mutex. Only its owner may call this.
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

    /// Wakes the first waiter if the mutex is free and no waiter is awake.
    fn settle(&self) {
        let mut queue = self.queue.lock();
        self.tidy(&queue);
        let word = self.word.load(Ordering::Relaxed);
        if word & QUEUED == 0 || word & (LOCKED | AWAKE) != 0 {
            return;
        }
        let is_strict = word & STRICT != 0;
        // Before the claim: from then on, the waiter may clear awake, or owns the mutex.
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
        // Acquire: pairs with the release of the previous owner, on behalf of a waiter that the
        // mutex is handed to. The claim passes this on to the waiter.
        let _ = self.word.fetch_update(Ordering::Acquire, Ordering::Relaxed, |word| Some(change(word)));
    }
}

/// Returns whether any caller may acquire it.
#[inline]
fn is_free(word: u32) -> bool {
    word & (LOCKED | STRICT) == 0
}

impl MutexContender {
    fn is_impatient(&self) -> bool {
        self.since.is_some_and(|since| rt::now().saturating_duration_since(since) >= PATIENCE)
    }

    /// Tries for a while to acquire the mutex.
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

    /// Pauses before the next try. Returns false if there should be none: a fiber that has not
    /// waited yet waits at once, since its worker has other fibers to run.
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

    /// Turns the word of a free mutex into that of a mutex that this caller owns.
    fn take(&self, mutex: &RawMutex, word: u32) -> bool {
        let new = (word | LOCKED) & !self.awake();
        mutex.word.compare_exchange(word, new, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Called after it has left the queue without the mutex, and will not try again.
    #[cold]
    fn gives_up(&self, mutex: &RawMutex) {
        // It is still the awake waiter if it was stopped before it could wait again. Relaxed: as in
        // `tidy`.
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
        // Other waiters depend on what the awake waiter does next, so its waits never panic: where
        // a fiber must not suspend, they block its worker.
        let limit = self.limit.next_wait();
        mutex.queue.wait(WaitKind::Mutex, Cell::new(false), limit, |_, _| {
            let awake = self.awake();
            // Only while it is the awake waiter. If this runs again, after a claim that failed on
            // this waiter, another waiter may be awake.
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
    fn the_last_waiter_clears_queued() {
        let mutex = RawMutex::new();
        assert!(mutex.try_lock());
        let is_queued = || mutex.word.load(Ordering::Relaxed) & QUEUED != 0;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                mutex.lock_within(Limit::NEVER).expect("nothing ends the wait but the lock");
                // Otherwise this thread would have to clear the bit, in a slow unlock.
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
