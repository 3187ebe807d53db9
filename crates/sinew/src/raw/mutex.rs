//! The word of a mutex, and who waits for it.
//!
//! Whoever finds it free takes it, even if others wait: a lock that is given back and taken again by those who run is worth many
//! times one that goes through the queue. Three things keep that fair. One waiter at a time is *awake* and tries, before all who
//! come new if it has to wait again. A waiter that has tried for longer than [`PATIENCE`] makes the mutex *strict*: it goes from
//! hand to hand, in the order of the queue, until that is empty or the next one has not waited for so long.
//!
//! | bit | set | cleared |
//! | --- | --- | --- |
//! | locked | by whoever takes it | by its owner; not, if it hands it over |
//! | queued | under the lock of the queue, by whoever enters it | under that lock, when the queue is empty |
//! | awake | under that lock, by the owner who wakes one while it gives the mutex back | by the one that was woken, when it takes the mutex or enters the queue again |
//! | strict | under that lock, by a waiter that was awake and enters the queue again | by the owner that was handed the mutex; with queued |
//!
//! No wake-up is lost: a waiter enters the queue, under its lock, in the same change of the word that shows it queued, and only if
//! that finds the mutex locked. Its owner thus sees the bit when it gives it back, and wakes one unless one is awake already. The one
//! that is awake takes the mutex, or finds it locked in the change that ends its being awake, so that the next owner sees that
//! nobody is. It does either, whatever its limit of time.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::rt::sync::{AtomicU32, Ordering, constant};
use crate::rt::{self, GaveUp, Limit, Locked, Outcome, Place, Queue};

const LOCKED: u32 = 1;
const QUEUED: u32 = 1 << 1;
const AWAKE: u32 = 1 << 2;
const STRICT: u32 = 1 << 3;

/// How long a waiter lets others go first. Not at all for the checker, which has no time and is to see what comes then.
const PATIENCE: Duration = if cfg!(loom) { Duration::ZERO } else { Duration::from_millis(1) };

/// Whether a waiter was handed the mutex.
type Handed = Cell<bool>;

/// The mutex.
pub(crate) struct RawMutex {
    word: AtomicU32,
    queue: Queue<(), Handed>,
}

/// One who tries.
struct Contender {
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
        let taken = self.word.compare_exchange(0, LOCKED, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok() || self.try_lock_slow()
    }

    #[cold]
    fn try_lock_slow(&self) -> bool {
        let change = |word: u32| (word & LOCKED == 0).then_some(word | LOCKED);
        self.word.fetch_update(Ordering::Acquire, Ordering::Relaxed, change).is_ok()
    }

    #[inline]
    pub(crate) fn lock(&self) {
        if self.word.compare_exchange(0, LOCKED, Ordering::Acquire, Ordering::Relaxed).is_err() {
            // Nothing ends the wait but the mutex.
            let _ = self.lock_slow(Limit::NEVER);
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
        let mut contender = Contender { limit, is_awake: false, since: None };
        loop {
            if contender.tries(self) {
                return Ok(());
            }
            match contender.waits(self) {
                (Outcome::NotNeeded, _) => return Ok(()),
                (Outcome::Woken, handed) if handed.get() => {
                    self.take_over(&contender);
                    return Ok(());
                }
                (Outcome::Woken, _) => contender.is_awake = true,
                (Outcome::TimedOut, _) => {
                    self.tidy(&self.queue.lock());
                    return Err(GaveUp::TimedOut);
                }
                (Outcome::Stopped(stop), _) => {
                    self.tidy(&self.queue.lock());
                    return Err(GaveUp::Stopped(stop));
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

    /// The mutex was handed over.
    fn take_over(&self, contender: &Contender) {
        let queue = self.queue.lock();
        if queue.is_empty() || !contender.is_impatient() {
            self.word.fetch_and(!STRICT, Ordering::Relaxed);
        }
        self.tidy(&queue);
    }

    /// For its owner.
    #[inline]
    pub(crate) fn unlock(&self) {
        // Release, here and wherever it is given back: pairs with the acquire of the next owner.
        if self.word.compare_exchange(LOCKED, 0, Ordering::Release, Ordering::Relaxed).is_err() {
            self.unlock_slow();
        }
    }

    #[inline(never)]
    #[cold]
    fn unlock_slow(&self) {
        let give_back = |word: u32| {
            let wakes_nobody = word & QUEUED == 0 || word & (AWAKE | STRICT) == AWAKE;
            wakes_nobody.then_some(word & !LOCKED)
        };
        if self.word.fetch_update(Ordering::Release, Ordering::Relaxed, give_back).is_ok() {
            return;
        }
        let mut queue = self.queue.lock();
        // Nobody but the owner sets `AWAKE`, and `STRICT` and `QUEUED` are changed under the lock.
        let word = self.word.load(Ordering::Relaxed);
        let is_strict = word & STRICT != 0;
        let claimed = queue.claim(|handed| handed.set(is_strict));
        let emptied = if queue.is_empty() { QUEUED } else { 0 };
        match &claimed {
            // It has it now, and sees to the bits. What the owner did is seen by it, since it was claimed by it.
            Some(_) if is_strict => {}
            Some(_) => self.change(LOCKED | emptied, AWAKE),
            None => self.change(LOCKED | QUEUED | STRICT, 0),
        }
        drop(queue);
        claimed.into_iter().for_each(rt::Claimed::go);
    }

    fn change(&self, cleared: u32, set: u32) {
        let change = |word: u32| Some(word & !cleared | set);
        let _ = self.word.fetch_update(Ordering::Release, Ordering::Relaxed, change);
    }
}

impl Contender {
    fn is_impatient(&self) -> bool {
        self.since.is_some_and(|since| since.elapsed() >= PATIENCE)
    }

    /// Tries to take it for a while.
    fn tries(&self, mutex: &RawMutex) -> bool {
        const TRIES: u32 = 16;
        for _ in 0..TRIES {
            let word = mutex.word.load(Ordering::Relaxed);
            if word & LOCKED == 0 && self.take(mutex, word) {
                return true;
            }
            if word & STRICT != 0 || !self.relax() {
                return false;
            }
        }
        false
    }

    /// Before the next try. False, if there is to be none.
    fn relax(&self) -> bool {
        self.is_awake && rt::give_way()
    }

    /// The word of a mutex that is free becomes that of one that this has.
    fn take(&self, mutex: &RawMutex, word: u32) -> bool {
        let new = (word | LOCKED) & !self.awake();
        mutex.word.compare_exchange(word, new, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn awake(&self) -> u32 {
        if self.is_awake { AWAKE } else { 0 }
    }

    /// Waits in the queue, unless the mutex is free.
    fn waits(&mut self, mutex: &RawMutex) -> (Outcome, Handed) {
        let place = if self.is_awake { Place::Front } else { Place::Back };
        let strict = if self.is_awake && self.is_impatient() { STRICT } else { 0 };
        self.since.get_or_insert_with(Instant::now);
        mutex.queue.wait(Cell::new(false), self.limit, |_| {
            let awake = self.awake();
            let change = |word: u32| {
                let entered = word | QUEUED | strict;
                Some(if word & LOCKED == 0 { word | LOCKED } else { entered } & !awake)
            };
            let before = mutex.word.fetch_update(Ordering::Acquire, Ordering::Relaxed, change);
            self.is_awake = false;
            let was_locked = before.is_ok_and(|word| word & LOCKED != 0);
            was_locked.then_some(place)
        })
    }
}
