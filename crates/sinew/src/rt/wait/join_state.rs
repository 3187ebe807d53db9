//! How long a fiber's block is there, and how its end is heard of. One word has both, so that a fiber which ends before anybody
//! waits for it says so and gives up its reference in one step. Knows no fiber.
//!
//! | from \ by | the fiber ends | the handle's owner waits | gives up waiting | drops the handle |
//! | --- | --- | --- | --- | --- |
//! | running | done, one reference less | waited | – | detached, one reference less |
//! | waited | done, **wakes** | – | running | – |
//! | detached | done, **drops the result** | – | – | – |
//! | done | – | (does not wait) | (it is done) | **drops the result** |
//!
//! A result with a destructor is announced on the fiber's own stack, shortly before the end. If the
//! fiber was detached by then, it drops the result there, where a destructor may wait. A handle
//! that is dropped between the announcement and the end drops the result itself, as it does after
//! the end. So no destructor runs on a worker outside of all fibers.
//!
//! Where something is left to do, whoever does it keeps its reference for as long. The others give theirs up with the change:
//! from then on the block may be gone.

use crate::rt::base::sync::{AtomicUsize, Ordering};

const RUNNING: usize = 0;
const WAITED: usize = 1;
const DETACHED: usize = 2;
const DONE: usize = 3;
const STATE: usize = 3;
/// Set beside the state when a result with a destructor is there, before the end.
const ANNOUNCED: usize = 4;
/// One reference. The count is above the state.
const ONE: usize = 8;

/// The word.
#[derive(Debug)]
pub(crate) struct Ending(AtomicUsize);

/// What the end of a fiber leaves to do. All but the first come with the reference that was the right to run it.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtEnd {
    /// Nothing at all: the reference is given up.
    Nothing,
    /// The handle will take the result.
    KeepReference,
    /// The handle's owner waits.
    Wake,
    /// Nobody wants the result.
    DropResult,
}

/// What becomes of the reference of a fiber that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    /// It is given up, if nothing is left to do.
    GiveUp,
    /// There is more to do.
    Keep,
}

impl Ending {
    /// The word of a new fiber, with two references: the right to run it, and the handle.
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(RUNNING + 2 * ONE))
    }

    /// One more reference, for somebody who has one.
    pub(crate) fn add_ref(&self) {
        // Relaxed: the caller's own reference keeps the block. As for `Arc`, nobody counts that far.
        if self.0.fetch_add(ONE, Ordering::Relaxed) > usize::MAX / 2 {
            std::process::abort();
        }
    }

    /// One reference less. Whether it was the last: the block is the caller's to free.
    #[inline]
    #[must_use]
    pub(crate) fn release(&self) -> bool {
        // Acquire, for whoever frees it: what all others did with it came before. If the caller's is the only one left, nobody
        // can add another, so it need not be taken off.
        if self.0.load(Ordering::Acquire) / ONE == 1 {
            return true;
        }
        // Release: what was done with it comes before it is freed.
        self.0.fetch_sub(ONE, Ordering::AcqRel) / ONE == 1
    }

    /// Whether the result is there.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        // Acquire: pairs with the release of `finish`.
        self.0.load(Ordering::Acquire) & STATE == DONE
    }

    /// Announces the result, before the end. Returns whether the fiber is detached: the result is
    /// the caller's to drop then, and else that of the handle's owner. To be called once.
    #[inline]
    #[must_use]
    pub(crate) fn announce(&self) -> bool {
        // Release: the result. Acquire: pairs with the release of `detach`.
        self.0.fetch_add(ANNOUNCED, Ordering::AcqRel) & STATE == DETACHED
    }

    /// The fiber has ended, and its result is there.
    #[inline]
    pub(crate) fn finish(&self, reference: Reference) -> AtEnd {
        let mut now = self.0.load(Ordering::Relaxed);
        loop {
            let (new, end) = match now & STATE {
                // Not the last one: the handle has one too, unless it has dropped an announced
                // result.
                RUNNING if reference == Reference::GiveUp && now / ONE > 1 => {
                    (now + DONE - ONE, AtEnd::Nothing)
                }
                RUNNING => (now + DONE, AtEnd::KeepReference),
                WAITED => (now | DONE, AtEnd::Wake),
                _ => (now | DONE, AtEnd::DropResult),
            };
            // Release: the result. Acquire: the waiter.
            match self.0.compare_exchange_weak(now, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return end,
                Err(other) => now = other,
            }
        }
    }

    /// From one state to another, whatever the count. False, if the end has come, or one of the
    /// bits `unless` is set. For the handle's owner, who alone changes the state besides.
    fn change(&self, from: usize, to: usize, count: usize, unless: usize) -> bool {
        let mut now = self.0.load(Ordering::Acquire);
        while now & (STATE | unless) == from {
            let new = now - from + to - count;
            // Release: the waiter, or what was done with the block. Acquire: the result.
            match self.0.compare_exchange_weak(now, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(other) => now = other,
            }
        }
        false
    }

    /// The handle's owner waits, and has said where. False, if the end has come.
    #[must_use]
    pub(crate) fn wait(&self) -> bool {
        self.change(RUNNING, WAITED, 0, 0)
    }

    /// The handle's owner does not wait any more. False, if the end has come.
    #[must_use]
    pub(crate) fn give_up(&self) -> bool {
        self.change(WAITED, RUNNING, 0, 0)
    }

    /// Nobody will ask: the handle's reference is given up. False, if the result is there already,
    /// announced or with the end, for the caller to drop; the reference is still its own then.
    #[must_use]
    pub(crate) fn detach(&self) -> bool {
        self.change(RUNNING, DETACHED, ONE, ANNOUNCED)
    }
}
