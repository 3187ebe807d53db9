//! A fiber's wait word: the number of its wait, whether that wait has ended and by what, and
//! whether the fiber's registers are saved. Knows no fiber.
//!
//! A wait ends when *waiting* is cleared, and only the thread that clears it has ended the wait.
//! Event, time-out, cancel and unpark race for that by changing this one word. What happens next
//! depends on whether the fiber's registers are saved by then. If they are, the winner schedules
//! the fiber. If not, the fiber's worker runs it again: after the switch it sets *saved*, and finds
//! that the wait is over.
//!
//! | from \ by | the fiber begins a wait | the worker has saved it | this wait is ended | unpark | poke |
//! | --- | --- | --- | --- | --- | --- |
//! | running | waiting | – | (another wait: nothing) | token | (nothing) |
//! | waiting | – | waiting, saved: **leave it** | ended | ended, if it may; else token | ended, if it may |
//! | waiting, saved | – | – | ended: **schedule it** | ended: **schedule it**, if it may; else token | ended: **schedule it**, if it may |
//! | ended | – | ended: **run it again** | (nothing) | token | (nothing) |
//!
//! A fiber that may only continue on its present worker counts as *saved* from the beginning. The
//! thread that ends its wait hands it to that worker, and the worker has finished saving the fiber
//! before it takes its next task. This saves one change of the word. But if another thread has
//! ended such a wait, the fiber must suspend, even if there was nothing to wait for: it has been
//! scheduled.
//!
//! A wait is *sole* if the fiber stays on its worker for good, only an event may end the wait, and
//! all who may end it hold the same lock. Then no two threads race to end it, and a plain store
//! ends it. [`take`](Word::take) does race with that store when the engine is over. This is
//! harmless, since the fiber is run in neither case.
//!
//! Waits are numbered, so that a late waker never ends the next wait. While no wait is open, only
//! the fiber changes the word. So a wait begins with a plain store. A waker sees this store because
//! it learns of the wait through an operation that releases.
//!
//! A token makes the next wait that unpark may end return at once, as for threads. It is a value
//! beside the word. An unpark that finds no such wait leaves the token, and then looks at the word
//! once more. The fiber opens such a wait, and then looks for a token. Each side writes one value
//! and reads the other, all sequentially consistent, so at least one of them sees what the other
//! wrote. If both do, one of them ends the wait by changing the word. In either case the fiber
//! takes the token. It may be the token of a later unpark, whose park has not returned by then.

use crate::rt::base::sync::{AtomicBool, AtomicU64, Ordering, order_all};

/// A wait is open.
const WAITING: u64 = 1;
/// The registers of the waiting fiber are saved.
const SAVED: u64 = 1 << 1;
/// Unpark may end the wait.
const UNPARKABLE: u64 = 1 << 2;
/// A poke may end the wait.
const CANCELLABLE: u64 = 1 << 3;
/// No two threads race to end the wait. Set only together with *saved*.
const SOLE: u64 = 1 << 6;
/// What ended the last wait.
const CAUSE: u64 = 0b11 << CAUSE_SHIFT;
const CAUSE_SHIFT: u32 = 4;
/// The number of the wait. There are 2^56 numbers.
const NUMBER: u64 = !0 << NUMBER_SHIFT;
const NUMBER_SHIFT: u32 = 8;

/// One of the waits of a fiber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaitId(u64);

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Cause {
    /// The event that the fiber waited for.
    Event = 0,
    /// The time limit was reached.
    Time = 1,
    /// A call of unpark.
    Unpark = 2,
    /// A poke: there may be a reason to stop.
    Cancel = 3,
}

/// Which calls end a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// Its event, and its time limit.
    ByEvent,
    /// Its event alone. All wakers hold the one lock under which the waiter is registered.
    ByHolder,
    /// Its event, its time limit, and unpark.
    ByUnpark,
    /// Its event, its time limit, and a poke.
    EventOrCancel,
    /// All of them.
    UnparkOrCancel,
}

impl Ends {
    /// Returns the same, with a poke added.
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

/// Which worker may run a waiting fiber again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runner {
    /// Any worker, once the fiber's registers are [saved](Word::saved).
    Anybody,
    /// The worker that runs it now.
    Same,
    /// The worker that runs it now, for the rest of the fiber's life.
    Settled,
}

/// What the caller has to do for the fiber.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WakeAction {
    /// The caller has the right to run the fiber, and schedules it.
    Schedule,
    /// Nothing: another thread runs the fiber, or the fiber does not wait.
    Nothing,
}

/// The wait word of a fiber.
#[derive(Debug)]
pub(crate) struct Word {
    word: AtomicU64,
    /// Set by an unpark that found no wait that it may end.
    token: AtomicBool,
}

impl Word {
    pub(crate) fn new() -> Self {
        Self { word: AtomicU64::new(0), token: AtomicBool::new(false) }
    }

    /// Begins a wait of the fiber. Returns `None`, and uses the token up, if the fiber has one that
    /// ends this wait. The caller makes the wait known to wakers by an operation that releases.
    #[inline]
    pub(crate) fn begin_wait(&self, ends: Ends, runner: Runner) -> Option<WaitId> {
        // Relaxed: no wait is open, so no other thread changes the word.
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
        // Release: a waker may end the wait knowing nothing but the word, and then puts the fiber
        // into a queue that its worker has just taken it from.
        self.word.store(opened, Ordering::Release);
        Some(WaitId(number))
    }

    fn begin_unparkable(&self, wait: WaitId, opened: u64) -> Option<WaitId> {
        if self.take_token() { None } else { self.open_unparkable(wait, opened) }
    }

    /// Opens a wait after the fiber has found no token. An unpark may have left one since.
    fn open_unparkable(&self, wait: WaitId, opened: u64) -> Option<WaitId> {
        // SeqCst: pairs with `leave_token`. One of the two sides sees what the other wrote.
        self.word.swap(opened, Ordering::SeqCst);
        order_all();
        if !self.token.load(Ordering::SeqCst) {
            return Some(wait);
        }
        if self.end(wait, Cause::Unpark).is_none() {
            // Another thread has ended the wait. The fiber finds that out as usual.
            return Some(wait);
        }
        self.take_token();
        None
    }

    fn take_token(&self) -> bool {
        // Acquire: pairs with the swap of the unpark that left the token.
        self.token.load(Ordering::Relaxed) && self.token.swap(false, Ordering::Acquire)
    }

    /// Records that the worker has saved the registers of a fiber that began a wait. Unless this
    /// returns [`WakeAction::Schedule`], the fiber may be gone afterwards.
    pub(crate) fn saved(&self) -> WakeAction {
        // Release: the thread that ends the wait sees the registers. Acquire: the fiber sees what
        // the thread that ended the wait did before.
        let before = self.word.fetch_or(SAVED, Ordering::AcqRel);
        if before & WAITING == 0 { WakeAction::Schedule } else { WakeAction::Nothing }
    }

    /// Ends a wait. Returns `None` if it has ended already.
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

    /// Ends the current wait if unpark may end it. Otherwise leaves a token for the next wait.
    pub(crate) fn unpark(&self) -> WakeAction {
        self.end_park().or_else(|| self.leave_token()).unwrap_or(WakeAction::Nothing)
    }

    fn end_park(&self) -> Option<WakeAction> {
        self.change(|word| {
            let is_for_us = word & (WAITING | UNPARKABLE) == WAITING | UNPARKABLE;
            is_for_us.then(|| (ended(word, Cause::Unpark), next(word)))
        })
    }

    /// Leaves a token. If a park has begun meanwhile, ends it.
    fn leave_token(&self) -> Option<WakeAction> {
        // SeqCst: pairs with `open_unparkable`. It also releases: the fiber that takes the token
        // sees what was done before the unpark.
        self.token.swap(true, Ordering::SeqCst);
        order_all();
        let word = self.word.load(Ordering::SeqCst);
        (word & (WAITING | UNPARKABLE) == WAITING | UNPARKABLE).then(|| self.end_park())?
    }

    /// Ends the current wait if a poke may end it. Otherwise does nothing, leaves nothing behind,
    /// and returns `None`.
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
            // Acquire: pairs with the release of `saved`. Release: pairs with the acquire of the
            // fiber when it continues.
            match self.word.compare_exchange_weak(word, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Some(next),
                Err(now) => word = now,
            }
        }
    }

    /// Ends the wait that a saved fiber is in, so that no other thread ends it. Returns whether
    /// there was one. If so, the caller has the right to run the fiber.
    pub(crate) fn take(&self) -> bool {
        let next = self.change(|word| {
            (word & (WAITING | SAVED) == WAITING | SAVED)
                .then(|| (ended(word, Cause::Event), WakeAction::Schedule))
        });
        next.is_some()
    }

    /// Returns whether a wait has not ended yet.
    pub(crate) fn is_open(&self, wait: WaitId) -> bool {
        // Acquire: pairs with the release of `end`.
        let word = self.word.load(Ordering::Acquire);
        word & NUMBER == wait.0 && word & WAITING != 0
    }

    /// Returns how many waits have begun.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn waits(&self) -> u64 {
        self.word.load(Ordering::Acquire) >> NUMBER_SHIFT
    }

    /// Returns what ended the last wait. Called by the fiber when it continues. If it was unpark,
    /// this uses the token up.
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

    /// The order is: the unpark finds no wait, a park begins, the token is left.
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

    /// The order is: the fiber finds no token, a token is left, the park begins.
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
