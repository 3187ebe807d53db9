//! The lifetime of a fiber's block, and the announcement of its end. One word holds both, so that a
//! fiber which ends before the handle's owner waits records its end and releases its reference in
//! one step. Knows no fiber.
//!
//! | from \ by | the fiber ends | the handle's owner waits | gives up waiting | drops the handle |
//! | --- | --- | --- | --- | --- |
//! | running | done, one reference less | waited | – | detached, one reference less |
//! | waited | done, **wakes** | – | running | – |
//! | detached | done, **drops the result** | – | – | – |
//! | done | – | (does not wait) | (it is done) | **drops the result** |
//!
//! A result with a destructor is announced on the fiber's own stack, shortly before the end. If the
//! fiber is detached by then, it drops the result there, where a destructor may wait. A handle that
//! is dropped between the announcement and the end drops the result itself, as it does after the
//! end. So no destructor runs on a worker outside of all fibers.
//!
//! If a change leaves something to do, the side that does it keeps its reference for as long.
//! Otherwise the change releases the reference: from then on the block may be gone.

use crate::rt::base::sync::{AtomicUsize, Ordering};

const RUNNING: usize = 0;
const WAITED: usize = 1;
const DETACHED: usize = 2;
const DONE: usize = 3;
const STATE: usize = 3;
/// Set beside the state when a result with a destructor exists, before the end.
const ANNOUNCED: usize = 4;
/// One reference. The count is above the state.
const ONE: usize = 8;

/// The state of a fiber's end, and the count of references.
#[derive(Debug)]
pub(crate) struct Ending(AtomicUsize);

/// What is left to do at the end of a fiber. All but the first pass on the reference that was the
/// right to run it.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtEnd {
    /// Nothing: the reference was released.
    Nothing,
    /// Nothing yet: the handle's owner will take the result.
    KeepReference,
    /// Wake the handle's owner, which waits.
    Wake,
    /// Drop the result, which no handle will take.
    DropResult,
}

/// What a fiber that ends does with its reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    /// It releases it if nothing is left to do.
    GiveUp,
    /// It keeps it: there is more to do.
    Keep,
}

impl Ending {
    /// Returns the word of a new fiber, with two references: the right to run it, and the handle.
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(RUNNING + 2 * ONE))
    }

    /// Adds a reference. The caller holds one.
    pub(crate) fn add_ref(&self) {
        // Relaxed: the caller's own reference keeps the block alive. As in `Arc`, no program counts
        // that far.
        if self.0.fetch_add(ONE, Ordering::Relaxed) > usize::MAX / 2 {
            std::process::abort();
        }
    }

    /// Releases a reference. Returns whether it was the last: then the caller frees the block.
    #[inline]
    #[must_use]
    pub(crate) fn release(&self) -> bool {
        // Acquire: the thread that frees the block sees all that others did with it before. If the
        // caller's reference is the only one left, no thread can add another, so it need not be
        // subtracted.
        if self.0.load(Ordering::Acquire) / ONE == 1 {
            return true;
        }
        // Release: what was done with the block happens before it is freed.
        self.0.fetch_sub(ONE, Ordering::AcqRel) / ONE == 1
    }

    /// Returns whether the result exists.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        // Acquire: pairs with the release of `finish`.
        self.0.load(Ordering::Acquire) & STATE == DONE
    }

    /// Announces the result, before the end. Returns whether the fiber is detached. If so, the
    /// caller drops the result; else the handle's owner does. Must be called once.
    #[inline]
    #[must_use]
    pub(crate) fn announce(&self) -> bool {
        // Release: publishes the result. Acquire: pairs with the release of `detach`.
        self.0.fetch_add(ANNOUNCED, Ordering::AcqRel) & STATE == DETACHED
    }

    /// Records that the fiber has ended and its result exists.
    #[inline]
    pub(crate) fn finish(&self, reference: Reference) -> AtEnd {
        let mut now = self.0.load(Ordering::Relaxed);
        loop {
            let (new, end) = match now & STATE {
                // Not the last reference: the handle has one too, unless it has dropped an
                // announced result.
                RUNNING if reference == Reference::GiveUp && now / ONE > 1 => {
                    (now + DONE - ONE, AtEnd::Nothing)
                }
                RUNNING => (now + DONE, AtEnd::KeepReference),
                WAITED => (now | DONE, AtEnd::Wake),
                _ => (now | DONE, AtEnd::DropResult),
            };
            // Release: publishes the result. Acquire: the waiter.
            match self.0.compare_exchange_weak(now, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return end,
                Err(other) => now = other,
            }
        }
    }

    /// Changes the state, with any count. Returns false if the fiber has ended, or one of the bits
    /// `unless` is set. Called by the handle's owner; only the end of the fiber changes the state
    /// besides.
    fn change(&self, from: usize, to: usize, count: usize, unless: usize) -> bool {
        let mut now = self.0.load(Ordering::Acquire);
        while now & (STATE | unless) == from {
            let new = now - from + to - count;
            // Release: publishes the waiter, or what was done with the block. Acquire: the result.
            match self.0.compare_exchange_weak(now, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(other) => now = other,
            }
        }
        false
    }

    /// Announces that the handle's owner waits; its waiter is registered. Returns false if the
    /// fiber has ended.
    #[must_use]
    pub(crate) fn wait(&self) -> bool {
        self.change(RUNNING, WAITED, 0, 0)
    }

    /// Announces that the handle's owner does not wait any more. Returns false if the fiber has
    /// ended.
    #[must_use]
    pub(crate) fn give_up(&self) -> bool {
        self.change(WAITED, RUNNING, 0, 0)
    }

    /// Detaches the fiber, and releases the handle's reference. Returns false if the result exists
    /// already, announced or with the end: then the caller drops it, and still has its reference.
    #[must_use]
    pub(crate) fn detach(&self) -> bool {
        self.change(RUNNING, DETACHED, ONE, ANNOUNCED)
    }
}
