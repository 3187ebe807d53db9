//! A fiber's word: which wait it is in, whether that has ended and by what, and whether its registers are saved. Knows no fiber.
//!
//! Whoever clears *waiting* has ended the wait, and nobody else has: event, time-out, cancel and unpark race for it by changing
//! the one word. What happens next depends on whether the fiber's registers were saved by then. If they were, the winner has the
//! fiber run again; if not, the worker does, which sets *saved* after the switch and finds that the wait is over.
//!
//! | from \ by | the fiber begins a wait | the worker has saved it | somebody ends this wait | unpark | poke |
//! | --- | --- | --- | --- | --- | --- |
//! | running | waiting | – | (another wait: nothing) | token | (nothing) |
//! | waiting | – | waiting, saved: **leave it** | ended | ended, if it may; else token | ended, if it may |
//! | waiting, saved | – | – | ended: **schedule it** | ended: **schedule it**, if it may; else token | ended: **schedule it**, if it may |
//! | ended | – | ended: **run it again** | (nothing) | token | (nothing) |
//!
//! Waits are numbered, so that whoever is late for one never ends the next. A token makes the next wait that unpark may end end at
//! once, as for threads.

use super::sync::{AtomicU64, Ordering};

/// A wait is open.
const WAITING: u64 = 1;
/// The registers of a fiber that waits are saved.
const SAVED: u64 = 1 << 1;
/// Unpark may end the wait.
const UNPARKABLE: u64 = 1 << 2;
/// Somebody called unpark when nothing waited for it.
const TOKEN: u64 = 1 << 3;
/// A poke may end the wait.
const CANCELLABLE: u64 = 1 << 4;
/// What ended the last wait.
const CAUSE: u64 = 0b11 << CAUSE_SHIFT;
const CAUSE_SHIFT: u32 = 5;
/// The number of the wait: 2^56 of them.
const NUMBER: u64 = !0 << NUMBER_SHIFT;
const NUMBER_SHIFT: u32 = 8;

/// One of the waits of a fiber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitId(u64);

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Cause {
    /// What it waited for.
    Event = 0,
    /// Its time was over.
    Time = 1,
    /// Somebody called unpark.
    Unpark = 2,
    /// Somebody poked it: there may be a reason to stop.
    Cancel = 3,
}

/// Which calls end a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// Its event, and time.
    ByEvent,
    /// Unpark too.
    ByUnpark,
    /// Its event, time, and a poke.
    EventOrCancel,
    /// All of them.
    UnparkOrCancel,
}

impl Ends {
    /// The same, and by a poke.
    #[inline]
    pub(crate) fn or_cancel(self) -> Self {
        match self {
            Self::ByEvent | Self::EventOrCancel => Self::EventOrCancel,
            Self::ByUnpark | Self::UnparkOrCancel => Self::UnparkOrCancel,
        }
    }

    #[inline]
    const fn bits(self) -> u64 {
        match self {
            Self::ByEvent => 0,
            Self::ByUnpark => UNPARKABLE,
            Self::EventOrCancel => CANCELLABLE,
            Self::UnparkOrCancel => UNPARKABLE | CANCELLABLE,
        }
    }
}

/// What the caller has to do about the fiber.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It is the caller's to have it run.
    Schedule,
    /// Somebody else's, or nobody's.
    Nothing,
}

/// The word, with its meanings.
#[derive(Debug)]
pub(crate) struct Word(AtomicU64);

impl Word {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The fiber begins a wait. None, if it has a token for it, which is used up.
    pub(crate) fn begin_wait(&self, ends: Ends) -> Option<WaitId> {
        // Relaxed: whatever a waker does with the number, it was handed over in another way.
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let uses_token = ends.bits() & UNPARKABLE != 0 && word & TOKEN != 0;
            let number = word.wrapping_add(1 << NUMBER_SHIFT) & NUMBER;
            let opened = number | WAITING | ends.bits() | word & TOKEN;
            let new = if uses_token { word & !TOKEN } else { opened };
            // Acquire: pairs with the release of the unpark that left the token.
            match self.0.compare_exchange_weak(word, new, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return (!uses_token).then_some(WaitId(number)),
                Err(now) => word = now,
            }
        }
    }

    /// The worker has saved the registers of a fiber that began a wait. It may be gone after this, unless it is to be scheduled.
    pub(crate) fn saved(&self) -> Next {
        // Release: whoever ends the wait sees the registers. Acquire: what ended it is seen by the fiber.
        let before = self.0.fetch_or(SAVED, Ordering::AcqRel);
        if before & WAITING == 0 { Next::Schedule } else { Next::Nothing }
    }

    /// Ends a wait, if it is still open: none, if not.
    #[must_use]
    pub(crate) fn end(&self, wait: WaitId, cause: Cause) -> Option<Next> {
        self.change(|word| {
            (word & NUMBER == wait.0 && word & WAITING != 0).then(|| (ended(word, cause), next(word)))
        })
    }

    /// Ends a wait that unpark may end; otherwise leaves a token for the next one.
    pub(crate) fn unpark(&self) -> Next {
        let next = self.change(|word| {
            let is_for_us = word & (WAITING | UNPARKABLE) == WAITING | UNPARKABLE;
            Some(if is_for_us {
                (ended(word, Cause::Unpark), next(word))
            } else {
                (word | TOKEN, Next::Nothing)
            })
        });
        next.unwrap_or(Next::Nothing)
    }

    /// Ends a wait that may be ended so; otherwise does nothing, and leaves nothing: none then.
    #[must_use]
    pub(crate) fn poke(&self) -> Option<Next> {
        self.change(|word| {
            let is_for_us = word & (WAITING | CANCELLABLE) == WAITING | CANCELLABLE;
            is_for_us.then(|| (ended(word, Cause::Cancel), next(word)))
        })
    }

    fn change(&self, change: impl Fn(u64) -> Option<(u64, Next)>) -> Option<Next> {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let (new, next) = change(word)?;
            // Acquire: pairs with the release of `saved`. Release: pairs with the acquire of the fiber that goes on.
            match self.0.compare_exchange_weak(word, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Some(next),
                Err(now) => word = now,
            }
        }
    }

    /// Ends whatever wait a saved fiber is in, so that nobody else will. Whether there was one: the fiber is the caller's then.
    pub(crate) fn take(&self) -> bool {
        let next = self.change(|word| {
            (word & (WAITING | SAVED) == WAITING | SAVED).then(|| (ended(word, Cause::Event), Next::Schedule))
        });
        next.is_some()
    }

    /// Whether a wait has not ended.
    pub(crate) fn is_open(&self, wait: WaitId) -> bool {
        // Acquire: pairs with the release of `end`.
        let word = self.0.load(Ordering::Acquire);
        word & NUMBER == wait.0 && word & WAITING != 0
    }

    /// What ended the last wait. For the fiber, when it goes on.
    pub(crate) fn cause(&self) -> Cause {
        // Acquire: pairs with the release of `end`.
        match (self.0.load(Ordering::Acquire) & CAUSE) >> CAUSE_SHIFT {
            0 => Cause::Event,
            1 => Cause::Time,
            2 => Cause::Unpark,
            _ => Cause::Cancel,
        }
    }
}

fn ended(word: u64, cause: Cause) -> u64 {
    word & !(WAITING | UNPARKABLE | CANCELLABLE | CAUSE) | (cause as u64) << CAUSE_SHIFT
}

fn next(word: u64) -> Next {
    if word & SAVED != 0 { Next::Schedule } else { Next::Nothing }
}
