//! The word of a reader-writer lock, and the queue of its waiters.
//!
//! A caller that finds the lock free for it acquires it, even if others wait, as with a mutex: a
//! reader if no writer holds it, a writer if no caller holds it. Two rules keep this fair. One of
//! the woken waiters is *awake* and tries; a waiter that has to wait again goes to the front of the
//! queue. If a waiter has to wait again after it has waited for longer than
//! [`PATIENCE`](contender::PATIENCE), the lock becomes *strict*: no caller acquires it, and when
//! its holders have released it, it is handed to the first waiter, or to all readers at the front.
//!
//! | bits | set | cleared |
//! | --- | --- | --- |
//! | writer | by the writer that acquires it, or the caller that hands it to a writer | by that writer |
//! | queued | under the lock of the queue, by the waiter that enters it | under that lock, when the queue is empty |
//! | awake | under that lock, before the waiters at the front are woken; one of them is told that it is the awake one | by that waiter, when it acquires the lock, enters the queue again or gives up; under that lock, if there was no waiter to wake |
//! | strict | under that lock, by the waiter that has waited too long | under that lock, when the lock is handed over, or the queue is empty |
//! | readers, a number | incremented by each reader that arrives, or by the caller that hands it the lock | decremented by each reader that leaves |
//!
//! A reader arrives with one addition, and then looks at the word. If it has arrived in vain,
//! because a writer holds the lock or the lock is strict, it leaves as every reader does, and takes
//! the slow path. So a caller that finds a reader in its way will see that reader leave, whether it
//! arrived in vain or not.
//!
//! No wake-up is lost. A waiter enters the queue, under its lock, together with the change of the
//! word that sets queued, and only if that change finds the lock not free for it. So there is a
//! holder, or a reader that arrived in vain, which sees the bit when it leaves. A caller that
//! leaves and sees the bit [settles](RawRwLock::settle) what is due, unless an awake waiter will
//! either acquire the lock or find it not free in the change that clears awake. The awake waiter
//! does one of the two, even if it times out. Three others settle what is due, since the waiters
//! behind them may have waited for nothing else: a waiter that gives up, a writer that becomes a
//! reader, and a reader that acquires the lock after a wait.
//!
//! A reader that leaves while other readers stay also wakes a waiting writer, if no waiter is
//! awake. The writer cannot acquire the lock then. But asleep, it would never become impatient
//! while readers follow each other without a gap.

mod contender;
mod word;

use std::cell::Cell;

use self::contender::RwLockContender;
use self::word::{AWAKE, Due, Mode, QUEUED, READER, STRICT, WRITER, due, is_due};
use crate::rt::sync::{AtomicU64, Ordering, constant};
use crate::rt::{GaveUp, Limit, Locked, Outcome, Queue, Wakes, pick};

/// A waiter.
#[derive(Debug)]
struct Waiting {
    mode: Mode,
    told: Cell<WakeReason>,
}

/// Why a waiter was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WakeReason {
    /// To try, beside others.
    Try,
    /// To try, as the awake waiter.
    Awake,
    /// It was handed the lock.
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

    /// Compare-and-swap instead of add-then-undo, which could turn a writer away although no reader
    /// holds the lock.
    #[inline]
    pub(crate) fn try_read(&self) -> bool {
        self.take(Mode::Read, 0).is_ok()
    }

    #[inline]
    pub(crate) fn try_write(&self) -> bool {
        // Acquire, here and in all other acquisitions: pairs with the release of the previous
        // holders.
        match self.word.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => true,
            Err(word) => Mode::Write.is_free(word) && self.take(Mode::Write, 0).is_ok(),
        }
    }

    /// Acquires the lock if it is free for `mode`, and clears these bits.
    fn take(&self, mode: Mode, clears: u64) -> Result<u64, u64> {
        let change = |word| mode.is_free(word).then(|| (word + mode.unit()) & !clears);
        self.word.fetch_update(Ordering::Acquire, Ordering::Relaxed, change)
    }

    #[inline]
    pub(crate) fn read(&self) {
        if !self.comes() {
            // The result is always `Ok`: this limit never ends the wait.
            let _ = self.read_slow(Limit::NEVER);
        }
    }

    /// # Errors
    ///
    /// Returns an error if the limit is reached first.
    #[inline]
    pub(crate) fn read_within(&self, limit: Limit) -> Result<(), GaveUp> {
        if self.comes() { Ok(()) } else { self.read_slow(limit) }
    }

    /// Adds a reader. Returns whether it has the lock; if not, it has arrived in vain.
    #[inline]
    fn comes(&self) -> bool {
        Mode::Read.is_free(self.word.fetch_add(READER, Ordering::Acquire))
    }

    #[inline(never)]
    #[cold]
    fn read_slow(&self, limit: Limit) -> Result<(), GaveUp> {
        self.unlock_read();
        self.wait(Mode::Read, limit)?;
        // Readers behind it may enter too. If this was the awake waiter, or the last wake-up had no
        // room for them, no other caller wakes them.
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
    /// Returns an error if the limit is reached first.
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
                // It is free if the awake waiter was woken but has not run yet.
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

    /// Releases the lock. Only a reader that holds it may call this.
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
        // If the lock is strict, the last reader hands it over.
        if word & STRICT == 0 || word < 2 * READER {
            self.settle(true);
        }
    }

    /// Releases the lock. Only the writer that holds it may call this.
    #[inline]
    pub(crate) fn unlock_write(&self) {
        // Release: pairs with the acquire of the next holders.
        let word = self.word.fetch_sub(WRITER, Ordering::Release);
        if is_due(word) {
            self.settle(false);
        }
    }

    /// Turns the writer that holds the lock into a reader.
    pub(crate) fn downgrade(&self) {
        // Release: pairs with the acquire of readers that arrive.
        let word = self.word.fetch_add(READER - WRITER, Ordering::Release);
        if is_due(word) {
            self.settle(false);
        }
    }

    /// Does what is due for the waiters. With `pokes`, it also wakes a writer that readers keep
    /// out.
    #[inline(never)]
    #[cold]
    fn settle(&self, pokes: bool) {
        let (mut queue, mut wakes) = (self.queue.lock(), Wakes::new());
        // Relaxed: the bits that matter change under the lock of the queue, or the caller that
        // changes the word next sees them.
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

    /// Clears the bits of the queue if it is empty.
    fn tidy(&self, queue: &Waiters<'_>) {
        if queue.is_empty() {
            // Relaxed: these bits do not order accesses to the value.
            self.word.fetch_and(!(QUEUED | STRICT), Ordering::Relaxed);
        }
    }

    /// Wakes the first waiter, or all readers at the front, up to the capacity of `wakes`. One of
    /// them becomes the awake waiter.
    fn wake_first(&self, queue: &mut Waiters<'_>, wakes: &mut Wakes) -> bool {
        // Before the claim, since the claimed waiter clears it.
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

    /// Hands a strict lock that no writer holds to the readers at the front, up to the capacity of
    /// `wakes`. Returns false if all of them have given up.
    fn hand_to_readers(&self, queue: &mut Waiters<'_>, wakes: &mut Wakes) -> bool {
        let mut is_handed = false;
        while !wakes.is_full() && first(queue) == Some(Mode::Read) {
            // Before the claim, so the reader holds the lock before it can know of it. No writer
            // acquires it meanwhile, since it is strict. Acquire: the previous holders, which may
            // not be the caller, released what the claim passes on.
            self.word.fetch_add(READER, Ordering::Acquire);
            match queue.try_claim(pick::First, |waiting| waiting.told.set(WakeReason::Handed), |_| ()) {
                Some(claimed) => {
                    is_handed = true;
                    wakes.add(claimed);
                }
                // Relaxed: this reader has seen nothing of the value. A reader that left meanwhile
                // was not the last one because of it, and did not hand the lock over. The waiter
                // that gave up makes up for that: it settles what is due.
                None => _ = self.word.fetch_sub(READER, Ordering::Relaxed),
            }
        }
        if is_handed {
            self.word.fetch_and(!STRICT, Ordering::Relaxed);
        }
        is_handed
    }

    /// Hands a strict lock that no caller holds to the writer at the front. Returns false if it has
    /// given up.
    fn hand_to_writer(&self, queue: &mut Waiters<'_>, wakes: &mut Wakes) -> bool {
        // As above. Readers that arrive meanwhile arrive in vain, since the lock was strict.
        self.word.fetch_sub(STRICT - WRITER, Ordering::Acquire);
        let claimed = queue.try_claim(pick::First, |waiting| waiting.told.set(WakeReason::Handed), |_| ());
        if claimed.is_none() {
            // Relaxed: the writer has seen nothing of the value.
            self.word.fetch_add(STRICT - WRITER, Ordering::Relaxed);
        }
        claimed.map(|claimed| wakes.add(claimed)).is_some()
    }
}

/// Returns what the first waiter wants.
fn first(queue: &Waiters<'_>) -> Option<Mode> {
    queue.first().map(|waiting| waiting.mode)
}
