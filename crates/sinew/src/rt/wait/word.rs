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
//! A fiber that only the worker which it runs on may run again counts as *saved* from the beginning: whoever ends its wait hands it to that
//! worker, which is done with saving it before it looks for what to run next. It saves a change of the word. But such a wait must be slept
//! through once somebody else has ended it, also if there was nothing to wait for: the fiber is about to be run because of it.
//!
//! If it stays for good, and nobody but an event may end its wait, and whoever may holds one and the same lock, then there is no race at all, and
//! the wait is *sole*: it is ended by a plain store. Whoever [takes](Word::take) the word of such a fiber does race, when its engine is over; it does not
//! matter, since the fiber is run neither way.
//!
//! Waits are numbered, so that whoever is late for one never ends the next. While none is open, nobody but the fiber changes the word: a
//! wait begins by a plain store, which whoever is to end it sees by being told of it.
//!
//! A token makes the next wait that unpark may end end at once, as for threads. It is beside the word. Whoever unparks a fiber that
//! does not wait leaves the token, and then looks at the word once more; the fiber opens such a wait, and then looks for a token. Each
//! writes one and reads the other, all of it sequentially consistent, so that one of them at least sees the other. If both do, one ends
//! the wait, by changing the word, and in either case the fiber takes the token, which may be that of a later unpark: its park has not
//! returned by then.

use crate::rt::base::sync::{AtomicBool, AtomicU64, Ordering, order_all};

/// A wait is open.
const WAITING: u64 = 1;
/// The registers of a fiber that waits are saved.
const SAVED: u64 = 1 << 1;
/// Unpark may end the wait.
const UNPARKABLE: u64 = 1 << 2;
/// A poke may end the wait.
const CANCELLABLE: u64 = 1 << 3;
/// No two race to end the wait. Only together with *saved*.
const SOLE: u64 = 1 << 6;
/// What ended the last wait.
const CAUSE: u64 = 0b11 << CAUSE_SHIFT;
const CAUSE_SHIFT: u32 = 4;
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
    /// Its event alone, by whoever holds the one lock that the waiter is known under.
    ByHolder,
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
            Self::ByEvent | Self::ByHolder | Self::EventOrCancel => Self::EventOrCancel,
            Self::ByUnpark | Self::UnparkOrCancel => Self::UnparkOrCancel,
        }
    }

    #[inline]
    const fn bits(self) -> u64 {
        match self {
            Self::ByEvent | Self::ByHolder => 0,
            Self::ByUnpark => UNPARKABLE,
            Self::EventOrCancel => CANCELLABLE,
            Self::UnparkOrCancel => UNPARKABLE | CANCELLABLE,
        }
    }
}

/// Who may run a fiber that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runner {
    /// Anybody, once its registers are [saved](Word::saved).
    Anybody,
    /// The one that runs it now.
    Same,
    /// That one, now and ever after.
    Settled,
}

/// What the caller has to do about the fiber.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WakeAction {
    /// It is the caller's to have it run.
    Schedule,
    /// Somebody else's, or nobody's.
    Nothing,
}

/// The word, with its meanings.
#[derive(Debug)]
pub(crate) struct Word {
    word: AtomicU64,
    /// Somebody called unpark when nothing waited for it.
    token: AtomicBool,
}

impl Word {
    pub(crate) fn new() -> Self {
        Self { word: AtomicU64::new(0), token: AtomicBool::new(false) }
    }

    /// The fiber begins a wait. None, if it has a token for it, which is used up. Others are told of the wait by something that releases.
    #[inline]
    pub(crate) fn begin_wait(&self, ends: Ends, runner: Runner) -> Option<WaitId> {
        // Relaxed: no wait is open, so that nobody else changes it.
        let number = self.word.load(Ordering::Relaxed).wrapping_add(1 << NUMBER_SHIFT) & NUMBER;
        let saved = match (runner, ends) {
            (Runner::Settled, Ends::ByHolder) => SAVED | SOLE,
            (Runner::Settled | Runner::Same, _) => SAVED,
            (Runner::Anybody, _) => 0,
        };
        let opened = number | WAITING | saved | ends.bits();
        if opened & UNPARKABLE != 0 {
            return self.begin_unparkable(WaitId(number), opened);
        }
        // Release: whoever ends the wait may do so by nothing but the word, and puts the fiber into a line that its worker has just taken it from.
        self.word.store(opened, Ordering::Release);
        Some(WaitId(number))
    }

    fn begin_unparkable(&self, wait: WaitId, opened: u64) -> Option<WaitId> {
        if self.take_token() { None } else { self.open_unparkable(wait, opened) }
    }

    /// Opens a wait, after the fiber has found no token. An unpark may have left one since.
    fn open_unparkable(&self, wait: WaitId, opened: u64) -> Option<WaitId> {
        // Pairs with `leave_token`.
        self.word.swap(opened, Ordering::SeqCst);
        order_all();
        if !self.token.load(Ordering::SeqCst) {
            return Some(wait);
        }
        if self.end(wait, Cause::Unpark).is_none() {
            // Somebody else has, and the fiber finds that out as always.
            return Some(wait);
        }
        self.take_token();
        None
    }

    fn take_token(&self) -> bool {
        // Acquire: pairs with the release of the unpark that left it.
        self.token.load(Ordering::Relaxed) && self.token.swap(false, Ordering::Acquire)
    }

    /// The worker has saved the registers of a fiber that began a wait. It may be gone after this, unless it is to be scheduled.
    pub(crate) fn saved(&self) -> WakeAction {
        // Release: whoever ends the wait sees the registers. Acquire: what ended it is seen by the fiber.
        let before = self.word.fetch_or(SAVED, Ordering::AcqRel);
        if before & WAITING == 0 { WakeAction::Schedule } else { WakeAction::Nothing }
    }

    /// Ends a wait, if it is still open: none, if not.
    #[must_use]
    #[inline]
    pub(crate) fn end(&self, wait: WaitId, cause: Cause) -> Option<WakeAction> {
        let word = self.word.load(Ordering::Relaxed);
        if word & (NUMBER | SOLE) == wait.0 | SOLE {
            // Release: as in `change`.
            self.word.store(ended(word, cause), Ordering::Release);
            return Some(WakeAction::Schedule);
        }
        self.change(|word| {
            (word & NUMBER == wait.0 && word & WAITING != 0).then(|| (ended(word, cause), next(word)))
        })
    }

    /// Ends a wait that unpark may end; otherwise leaves a token for the next one.
    pub(crate) fn unpark(&self) -> WakeAction {
        self.end_park().or_else(|| self.leave_token()).unwrap_or(WakeAction::Nothing)
    }

    fn end_park(&self) -> Option<WakeAction> {
        self.change(|word| {
            let is_for_us = word & (WAITING | UNPARKABLE) == WAITING | UNPARKABLE;
            is_for_us.then(|| (ended(word, Cause::Unpark), next(word)))
        })
    }

    /// A park may have begun meanwhile.
    fn leave_token(&self) -> Option<WakeAction> {
        // Pairs with `begin_unparkable`. It releases too: what was done before is seen by whoever takes the token.
        self.token.swap(true, Ordering::SeqCst);
        order_all();
        let word = self.word.load(Ordering::SeqCst);
        (word & (WAITING | UNPARKABLE) == WAITING | UNPARKABLE).then(|| self.end_park())?
    }

    /// Ends a wait that may be ended so; otherwise does nothing, and leaves nothing: none then.
    #[must_use]
    pub(crate) fn poke(&self) -> Option<WakeAction> {
        self.change(|word| {
            let is_for_us = word & (WAITING | CANCELLABLE) == WAITING | CANCELLABLE;
            is_for_us.then(|| (ended(word, Cause::Cancel), next(word)))
        })
    }

    fn change(&self, change: impl Fn(u64) -> Option<(u64, WakeAction)>) -> Option<WakeAction> {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let (new, next) = change(word)?;
            // Acquire: pairs with the release of `saved`. Release: pairs with the acquire of the fiber that goes on.
            match self.word.compare_exchange_weak(word, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Some(next),
                Err(now) => word = now,
            }
        }
    }

    /// Ends whatever wait a saved fiber is in, so that nobody else will. Whether there was one: the fiber is the caller's then.
    pub(crate) fn take(&self) -> bool {
        let next = self.change(|word| {
            (word & (WAITING | SAVED) == WAITING | SAVED)
                .then(|| (ended(word, Cause::Event), WakeAction::Schedule))
        });
        next.is_some()
    }

    /// Whether a wait has not ended.
    pub(crate) fn is_open(&self, wait: WaitId) -> bool {
        // Acquire: pairs with the release of `end`.
        let word = self.word.load(Ordering::Acquire);
        word & NUMBER == wait.0 && word & WAITING != 0
    }

    /// How many waits have begun.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn waits(&self) -> u64 {
        self.word.load(Ordering::Acquire) >> NUMBER_SHIFT
    }

    /// What ended the last wait. For the fiber, when it goes on: if it was unpark, a token is used up.
    #[inline]
    pub(crate) fn cause(&self) -> Cause {
        // Acquire: pairs with the release of `end`.
        match self.word.load(Ordering::Acquire) & CAUSE {
            0 => Cause::Event,
            other => self.other_cause(other >> CAUSE_SHIFT),
        }
    }

    fn other_cause(&self, cause: u64) -> Cause {
        match cause {
            1 => Cause::Time,
            2 => {
                self.take_token();
                Cause::Unpark
            }
            _ => Cause::Cancel,
        }
    }
}

fn ended(word: u64, cause: Cause) -> u64 {
    word & !(WAITING | UNPARKABLE | CANCELLABLE | SOLE | CAUSE) | (cause as u64) << CAUSE_SHIFT
}

fn next(word: u64) -> WakeAction {
    if word & SAVED != 0 { WakeAction::Schedule } else { WakeAction::Nothing }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const RUNNERS: [Runner; 3] = [Runner::Anybody, Runner::Same, Runner::Settled];

    /// The unpark finds no wait, then a park begins, then the token is left.
    #[test]
    fn an_unpark_that_found_no_wait_ends_the_park_that_has_begun_since() {
        for ends in [Ends::ByUnpark, Ends::UnparkOrCancel] {
            for runner in RUNNERS {
                let word = Word::new();
                assert_eq!(word.end_park(), None, "nothing waits");
                let wait = word.begin_wait(ends, runner).expect("no token yet");
                let next = word.leave_token();
                let schedule =
                    if runner == Runner::Anybody { WakeAction::Nothing } else { WakeAction::Schedule };
                assert_eq!(next, Some(schedule), "{ends:?}, {runner:?}");
                assert!(!word.is_open(wait));
                assert_eq!(word.cause(), Cause::Unpark);
                assert!(word.begin_wait(Ends::ByUnpark, runner).is_some(), "the token is used up");
            }
        }
    }

    /// The fiber finds no token, then one is left, then the park begins.
    #[test]
    fn a_park_that_found_no_token_takes_the_one_that_was_left_since() {
        let word = Word::new();
        assert!(!word.take_token());
        assert_eq!(word.leave_token(), None, "nothing waits");
        let wait = WaitId(1 << NUMBER_SHIFT);
        assert_eq!(word.open_unparkable(wait, wait.0 | WAITING | UNPARKABLE), None);
        assert!(!word.is_open(wait));
        assert!(word.begin_wait(Ends::ByUnpark, Runner::Anybody).is_some(), "the token is used up");
    }
}
