//! The sequence of a value that is copied while it may change, and who changes it. Knows no value.
//!
//! A writer has the *turn*, for as long as it likes, and works on a copy of its own. Then it *publishes* that: it makes the sequence
//! odd, writes the value word by word, and makes it even again. That takes a few stores, and nobody suspends in between, so that
//! readers never meet a writer that is suspended; they read what was there before. A reader copies the value, and keeps the copy if
//! the sequence was even before, and is the same after.
//!
//! Why a copy that is kept is one value. The words of the value are atomic, and relaxed, so two fences order them:
//!
//! - *No word is too new.* Assume that one is of a publication that begins after the sequence was read. The writer's release
//!   fence is before its stores to words, and the reader's acquire fence is after its loads of them: since it has loaded one of those
//!   stores, all that is before the first fence is seen after the second, and so the odd sequence at least.
//! - *No word is too old.* The reader's first load acquires the sequence of a publication, whose last store releases all its words.
//!
//! One that is in the midst of a publication for long, because its thread has lost the processor, or that is overtaken again and
//! again, reads under the gate instead. That is what publications are under, so that nothing changes meanwhile.

use super::RawMutex;
use crate::rt::sync::{AtomicU64, Ordering, constant, fence, spin_loop};
use crate::rt::{GaveUp, Limit, Queue};

/// How often a reader tries before it goes to the gate.
const TRIES: u32 = if cfg!(loom) { 1 } else { 64 };

/// The lock.
pub(crate) struct RawSeqLock {
    /// Odd while a value is published.
    sequence: AtomicU64,
    /// Whose turn it is to write.
    turn: RawMutex,
    /// Held for a publication, and by readers who have failed too often. It is its lock that counts: nobody waits in the queue.
    gate: Queue<(), ()>,
}

impl RawSeqLock {
    constant! {
        pub(crate) fn new() -> Self {
            Self { sequence: AtomicU64::new(0), turn: RawMutex::new(), gate: Queue::new(()) }
        }
    }

    /// What this copies, when it has copied one value, which it may not have before: it is called more than once. It reads words
    /// that are relaxed, and does nothing else.
    #[inline]
    pub(crate) fn read<R>(&self, copy: impl Fn() -> R) -> R {
        self.try_read(&copy).unwrap_or_else(|| self.read_slow(copy))
    }

    #[cold]
    fn read_slow<R>(&self, copy: impl Fn() -> R) -> R {
        for _ in 1..TRIES {
            spin_loop();
            if let Some(copied) = self.try_read(&copy) {
                return copied;
            }
        }
        let gate = self.gate.lock();
        let copied = copy();
        drop(gate);
        copied
    }

    /// The same, if it succeeds the first time.
    #[inline]
    pub(crate) fn try_read<R>(&self, copy: impl FnOnce() -> R) -> Option<R> {
        // Acquire: pairs with the last store of `publish`, so that no word is too old.
        let before = self.sequence.load(Ordering::Acquire);
        if before % 2 == 1 {
            return None;
        }
        let copied = copy();
        // Acquire: pairs with the fence of `publish`, so that whoever has copied a word that is too new sees the sequence changed.
        fence(Ordering::Acquire);
        (self.sequence.load(Ordering::Relaxed) == before).then_some(copied)
    }

    /// For whoever has the turn. `write` stores words that are relaxed, and does nothing else.
    pub(crate) fn publish(&self, write: impl FnOnce()) {
        let gate = self.gate.lock();
        // Relaxed: it changes under the gate.
        let before = self.sequence.load(Ordering::Relaxed);
        self.sequence.store(before.wrapping_add(1), Ordering::Relaxed);
        // Release: pairs with the fence of `try_read`.
        fence(Ordering::Release);
        write();
        // Release: pairs with the first load of `try_read`.
        self.sequence.store(before.wrapping_add(2), Ordering::Release);
        drop(gate);
    }

    /// Whether it is the caller's turn now.
    #[inline]
    pub(crate) fn try_begin(&self) -> bool {
        self.turn.try_lock()
    }

    /// Waits for the turn.
    ///
    /// # Errors
    ///
    /// If the limit is reached before.
    #[inline]
    pub(crate) fn begin(&self, limit: Limit) -> Result<(), GaveUp> {
        self.turn.lock_within(limit)
    }

    /// For whoever has the turn: it is somebody else's.
    #[inline]
    pub(crate) fn end(&self) {
        self.turn.unlock();
    }
}
