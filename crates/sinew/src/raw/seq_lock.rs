//! The sequence number of a value that is copied while it may change, and the lock of its writers.
//! Knows no value.
//!
//! A writer holds the *turn* for as long as it needs, and works on its own copy. Then it
//! *publishes* the copy: it makes the sequence odd, writes the value word by word, and makes the
//! sequence even again. This takes a few stores without a suspension, so readers never meet a
//! suspended writer; they read the old value. A reader copies the value. It keeps the copy if the
//! sequence was even before, and is the same after.
//!
//! Why a copy that is kept is one value: the words of the value are atomic and relaxed, so two
//! fences order them.
//!
//! - *No word is too new.* Assume that a word is from a publication that began after the sequence
//!   was read. The writer's release fence is before its stores to the words, and the reader's
//!   acquire fence is after its loads of them. The reader has loaded one of these stores, so after
//!   its fence it sees all that is before the writer's fence: the odd sequence or a later one. So
//!   it does not keep the copy.
//! - *No word is too old.* The reader's first load acquires the sequence of a publication, whose
//!   last store releases all its words.
//!
//! A reader may meet a publication that takes long, because the writer's thread was preempted, or
//! may be overtaken again and again. It then reads under the gate. Publications hold the gate too,
//! so the value does not change meanwhile.

use super::RawMutex;
use crate::rt::sync::{AtomicU64, Ordering, constant, fence, spin_loop};
use crate::rt::{GaveUp, Limit, Queue};

/// How often a reader tries before it locks the gate.
const TRIES: u32 = if cfg!(loom) { 1 } else { 64 };

/// The lock.
pub(crate) struct RawSeqLock {
    /// Odd while a value is published.
    sequence: AtomicU64,
    /// Held by the writer.
    turn: RawMutex,
    /// Held by a publication, and by readers that have failed too often. Only its lock is used: its
    /// queue has no waiters.
    gate: Queue<(), ()>,
}

impl RawSeqLock {
    constant! {
        pub(crate) fn new() -> Self {
            Self { sequence: AtomicU64::new(0), turn: RawMutex::new(), gate: Queue::new(()) }
        }
    }

    /// Returns the result of `copy` for one value. It may call `copy` several times, and drops the
    /// results of inconsistent copies. `copy` only loads relaxed words.
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

    /// Returns the result of `copy`, if its first call copied one value.
    #[inline]
    pub(crate) fn try_read<R>(&self, copy: impl FnOnce() -> R) -> Option<R> {
        // Acquire: pairs with the last store of `publish`, so no word is too old.
        let before = self.sequence.load(Ordering::Acquire);
        if before % 2 == 1 {
            return None;
        }
        let copied = copy();
        // Acquire: pairs with the fence of `publish`, so a reader that has copied a word that is
        // too new sees the changed sequence.
        fence(Ordering::Acquire);
        (self.sequence.load(Ordering::Relaxed) == before).then_some(copied)
    }

    /// Publishes a value. The caller holds the turn. `write` only stores relaxed words.
    pub(crate) fn publish(&self, write: impl FnOnce()) {
        let gate = self.gate.lock();
        // Relaxed: the sequence changes only under the gate.
        let before = self.sequence.load(Ordering::Relaxed);
        self.sequence.store(before.wrapping_add(1), Ordering::Relaxed);
        // Release: pairs with the fence of `try_read`.
        fence(Ordering::Release);
        write();
        // Release: pairs with the first load of `try_read`.
        self.sequence.store(before.wrapping_add(2), Ordering::Release);
        drop(gate);
    }

    /// Takes the turn if it is free, and returns whether it did.
    #[inline]
    pub(crate) fn try_begin(&self) -> bool {
        self.turn.try_lock()
    }

    /// Waits for the turn.
    ///
    /// # Errors
    ///
    /// Returns an error if the limit is reached first.
    #[inline]
    pub(crate) fn begin(&self, limit: Limit) -> Result<(), GaveUp> {
        self.turn.lock_within(limit)
    }

    /// Gives up the turn. The caller holds it.
    #[inline]
    pub(crate) fn end(&self) {
        self.turn.unlock();
    }
}
