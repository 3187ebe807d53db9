//! The word of a lock for readers and writers, and who waits for it.
//!
//! Whoever finds it free takes it, even if others wait, as for a mutex: a reader, unless a writer has it; a writer, if nobody does.
//! What keeps that fair: one of those who waited is *awake* and tries, and is before all others if it has to wait again; and if one
//! waits again though it has waited for longer than [`PATIENCE`](contender::PATIENCE), the lock is *strict*: nobody takes it, and it is
//! handed to the first waiter, or to all readers that are first, when those who have it are done.
//!
//! | bits | set | cleared |
//! | --- | --- | --- |
//! | writer | by the writer that takes it, or whoever hands it to one | by that writer |
//! | queued | under the lock of the queue, by whoever enters it | under that lock, when the queue is empty |
//! | awake | under that lock, before those are woken that are first; it is told to one of them | by that one, when it takes the lock, enters the queue again or gives up; under that lock, if there was none |
//! | strict | under that lock, by the waiter that has waited too long | under that lock, when the lock is handed over, or the queue is empty |
//! | readers, a number | up by each that comes, or by whoever hands it to them | down by each when it leaves |
//!
//! A reader comes by one addition, and looks then. If it has come in vain, since a writer has the lock or it is strict, it leaves as every
//! reader does, and goes the long way. So whoever finds a reader in its way will see it leave, in vain or not.
//!
//! No wake-up is lost. A waiter enters the queue, under its lock, with the change of the word that shows it queued, and only if that
//! finds the lock not free for it: then somebody has it, or comes in vain, and when that one leaves, it sees the bit. Whoever leaves and
//! sees it [settles](RawRwLock::settle) what is due, unless one is awake that will take the lock, or find it not free in the change that ends
//! its being awake. It does either, whatever its limit of time. Three more settle what is due, since those behind them may have waited
//! for nothing else: who gives up, who keeps the lock as a reader only, and a reader that has come in after a wait.
//!
//! A writer that waits is also woken by a reader that leaves others behind, if nobody is awake: it cannot take the lock then, but it would
//! never grow impatient asleep, where readers follow each other without a gap.

mod contender;
mod word;

use std::cell::Cell;

use self::contender::RwLockContender;
use self::word::{AWAKE, Due, Mode, QUEUED, READER, STRICT, WRITER, due, is_due};
use crate::rt::sync::{AtomicU64, Ordering, constant};
use crate::rt::{GaveUp, Limit, Locked, Outcome, Queue, Wakes, pick};

/// One who waits.
#[derive(Debug)]
struct Waiting {
    mode: Mode,
    told: Cell<WakeReason>,
}

/// Why it was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WakeReason {
    /// To try, as one among others.
    Try,
    /// To try, as the one that is awake.
    Awake,
    /// It has the lock.
    Handed,
}

type Waiters<'a> = Locked<'a, (), Waiting>;

/// The lock.
pub(crate) struct RawRwLock {
    word: AtomicU64,
    queue: Queue<(), Waiting>,
}

impl RawRwLock {
    constant! {
        pub(crate) fn new() -> Self {
            Self { word: AtomicU64::new(0), queue: Queue::new(()) }
        }
    }

    /// Not by coming and leaving: a writer that tries meanwhile would be turned away by one who has nothing.
    #[inline]
    pub(crate) fn try_read(&self) -> bool {
        self.take(Mode::Read, 0).is_ok()
    }

    #[inline]
    pub(crate) fn try_write(&self) -> bool {
        // Acquire, here and wherever it is taken: pairs with the release of those who had it before.
        match self.word.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => true,
            Err(word) => Mode::Write.is_free(word) && self.take(Mode::Write, 0).is_ok(),
        }
    }

    /// Takes it, if it is free, and clears these bits.
    fn take(&self, mode: Mode, clears: u64) -> Result<u64, u64> {
        let change = |word| mode.is_free(word).then(|| (word + mode.unit()) & !clears);
        self.word.fetch_update(Ordering::Acquire, Ordering::Relaxed, change)
    }

    #[inline]
    pub(crate) fn read(&self) {
        if !self.comes() {
            // Nothing ends the wait but the lock.
            let _ = self.read_slow(Limit::NEVER);
        }
    }

    /// # Errors
    ///
    /// If the limit is reached before.
    #[inline]
    pub(crate) fn read_within(&self, limit: Limit) -> Result<(), GaveUp> {
        if self.comes() { Ok(()) } else { self.read_slow(limit) }
    }

    /// One reader more. Whether it has not come in vain.
    #[inline]
    fn comes(&self) -> bool {
        Mode::Read.is_free(self.word.fetch_add(READER, Ordering::Acquire))
    }

    #[inline(never)]
    #[cold]
    fn read_slow(&self, limit: Limit) -> Result<(), GaveUp> {
        self.unlock_read();
        self.wait(Mode::Read, limit)?;
        // Readers behind it may come in too. If it was the one that is awake, or there was no room for them, nobody else tells them.
        if is_due(self.word.load(Ordering::Relaxed)) {
            self.settle(false);
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn write(&self) {
        if !self.try_write() {
            let _ = self.write_slow(Limit::NEVER);
        }
    }

    /// # Errors
    ///
    /// If the limit is reached before.
    #[inline]
    pub(crate) fn write_within(&self, limit: Limit) -> Result<(), GaveUp> {
        if self.try_write() { Ok(()) } else { self.write_slow(limit) }
    }

    #[inline(never)]
    #[cold]
    fn write_slow(&self, limit: Limit) -> Result<(), GaveUp> {
        self.wait(Mode::Write, limit)
    }

    fn wait(&self, mode: Mode, limit: Limit) -> Result<(), GaveUp> {
        let mut contender = RwLockContender::new(mode, limit);
        loop {
            if contender.tries(self) {
                return Ok(());
            }
            match contender.waits(self) {
                (Outcome::NotNeeded, _) | (Outcome::Woken, WakeReason::Handed) => return Ok(()),
                (Outcome::Woken, told) => contender.is_awake = told == WakeReason::Awake,
                // It is free, if the one that is awake has not come to run yet.
                (Outcome::TimedOut, _) if self.take(mode, 0).is_ok() => return Ok(()),
                (Outcome::TimedOut, _) => {
                    contender.gives_up(self);
                    return Err(GaveUp::TimedOut);
                }
                (Outcome::Stopped(stop), _) => {
                    contender.gives_up(self);
                    return Err(GaveUp::Stopped(stop));
                }
            }
        }
    }

    /// For a reader that has it.
    #[inline]
    pub(crate) fn unlock_read(&self) {
        // Release: pairs with the acquire of the next writer.
        let word = self.word.fetch_sub(READER, Ordering::Release);
        if is_due(word) {
            self.reader_left(word);
        }
    }

    #[inline(never)]
    #[cold]
    fn reader_left(&self, word: u64) {
        // Of a lock that is to be handed over, the last one does it.
        if word & STRICT == 0 || word < 2 * READER {
            self.settle(true);
        }
    }

    /// For the writer that has it.
    #[inline]
    pub(crate) fn unlock_write(&self) {
        // Release: pairs with the acquire of those who have it next.
        let word = self.word.fetch_sub(WRITER, Ordering::Release);
        if is_due(word) {
            self.settle(false);
        }
    }

    /// The writer that has it has it as a reader from now on.
    pub(crate) fn downgrade(&self) {
        // Release: pairs with the acquire of readers that come.
        let word = self.word.fetch_add(READER - WRITER, Ordering::Release);
        if is_due(word) {
            self.settle(false);
        }
    }

    /// Does what is due for those who wait. `pokes` has a writer woken that readers are in the way of.
    #[inline(never)]
    #[cold]
    fn settle(&self, pokes: bool) {
        let (mut queue, mut wakes) = (self.queue.lock(), Wakes::new());
        // Relaxed: bits that matter are changed under the lock of the queue, or seen by who changes the word next.
        while let Some(due) = due(self.word.load(Ordering::Relaxed), first(&queue), pokes) {
            let is_done = match due {
                Due::Wake => self.wake_first(&mut queue, &mut wakes),
                Due::Hand(Mode::Read) => self.hand_to_readers(&mut queue, &mut wakes),
                Due::Hand(Mode::Write) => self.hand_to_writer(&mut queue, &mut wakes),
            };
            if is_done {
                break;
            }
        }
        self.tidy(&queue);
        drop(queue);
        wakes.go();
    }

    /// The queue may be empty now.
    fn tidy(&self, queue: &Waiters<'_>) {
        if queue.is_empty() {
            // Relaxed: the bits say nothing of the value.
            self.word.fetch_and(!(QUEUED | STRICT), Ordering::Relaxed);
        }
    }

    /// Wakes the first one, or all readers that are first, as far as there is room; one of them is the one that is awake.
    fn wake_first(&self, queue: &mut Waiters<'_>, wakes: &mut Wakes) -> bool {
        // Before anybody is claimed, since that one clears it.
        self.word.fetch_or(AWAKE, Ordering::Relaxed);
        let mut told = WakeReason::Awake;
        while !wakes.is_full()
            && let Some(mode) = first(queue)
            && (mode == Mode::Read || told == WakeReason::Awake)
        {
            let Some(claimed) = queue.try_claim(pick::First, |waiting| waiting.told.set(told), |_| ()) else {
                continue;
            };
            wakes.add(claimed);
            told = WakeReason::Try;
            if mode == Mode::Write {
                break;
            }
        }
        if told == WakeReason::Awake {
            self.word.fetch_and(!AWAKE, Ordering::Relaxed);
        }
        true
    }

    /// Hands a strict lock that no writer has to the readers that are first, as far as there is room. False, if all have given up.
    fn hand_to_readers(&self, queue: &mut Waiters<'_>, wakes: &mut Wakes) -> bool {
        let mut is_handed = false;
        while !wakes.is_full() && first(queue) == Some(Mode::Read) {
            // It has it before it can know of it, and no writer takes it meanwhile, since it is strict. Acquire: what those before
            // did, who may not be the caller, is passed on by the claim.
            self.word.fetch_add(READER, Ordering::Acquire);
            match queue.try_claim(pick::First, |waiting| waiting.told.set(WakeReason::Handed), |_| ()) {
                Some(claimed) => {
                    is_handed = true;
                    wakes.add(claimed);
                }
                // Relaxed: it has seen nothing of the value. Whoever left meanwhile and was not the last one because of it is made
                // up for by the one that gave up, which settles what is due.
                None => _ = self.word.fetch_sub(READER, Ordering::Relaxed),
            }
        }
        if is_handed {
            self.word.fetch_and(!STRICT, Ordering::Relaxed);
        }
        is_handed
    }

    /// Hands a strict lock that nobody has to the writer that is first. False, if that has given up.
    fn hand_to_writer(&self, queue: &mut Waiters<'_>, wakes: &mut Wakes) -> bool {
        // As above. Readers that come meanwhile come in vain, since it was strict.
        self.word.fetch_sub(STRICT - WRITER, Ordering::Acquire);
        let claimed = queue.try_claim(pick::First, |waiting| waiting.told.set(WakeReason::Handed), |_| ());
        if claimed.is_none() {
            // Relaxed: it has seen nothing of the value.
            self.word.fetch_add(STRICT - WRITER, Ordering::Relaxed);
        }
        claimed.map(|claimed| wakes.add(claimed)).is_some()
    }
}

/// What the first one who waits wants.
fn first(queue: &Waiters<'_>) -> Option<Mode> {
    queue.first().map(|waiting| waiting.mode)
}
