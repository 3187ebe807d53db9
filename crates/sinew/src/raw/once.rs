//! The word of something that is done once, and who waits for it. Knows neither what is done nor what it leaves.
//!
//! | word | what | goes to |
//! | --- | --- | --- |
//! | new | nobody has begun | running, by whoever begins |
//! | failed | somebody did, and panicked | running, by whoever begins though it knows that |
//! | running, with a number | whoever has this number does it | done or failed, by that one |
//! | done | | – |
//!
//! The number tells somebody who comes again while it runs it that it would wait for itself. Only its owner writes a number, so that
//! whoever reads its own has written it.
//!
//! No wake-up is lost: it ends under the lock of the queue, and whoever enters that looks at the word under the same lock. So after
//! that lock, either the one who ends it finds the other in the queue, or that one finds it ended.

use std::num::NonZero;

use crate::rt::sync::{AtomicU64, Ordering, constant};
use crate::rt::{self, GaveUp, Limit, Outcome, Place, Queue, WaitKind};

const NEW: u64 = 0;
const FAILED: u64 = 1;
const DONE: u64 = 2;
/// What is added to a number, which is not zero. There are fewer than half of what a word can tell.
const RUNNING: u64 = 2;

/// Something that is done once.
pub(crate) struct RawOnce {
    word: AtomicU64,
    queue: Queue<(), ()>,
}

/// What somebody who begins has to do.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnceBegun {
    /// Do it, and then say so by [`RawOnce::end`].
    Run { has_failed: bool },
    /// Nothing: it is done.
    Done,
    /// Nothing: it has failed, and the caller does not do what has.
    Failed,
    /// Nothing: the caller is the one who runs it.
    Reentered,
}

/// What somebody who waits has seen.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnceSeen {
    Done,
    /// It has failed, and the caller does not wait for another one to do it.
    Failed,
    /// The caller is the one who runs it, and would wait for itself.
    Reentered,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnceEnd {
    Done,
    Failed,
}

/// What failing means to the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnceFailure {
    /// The end.
    Counts,
    /// That it may be tried again.
    IsIgnored,
}

impl RawOnce {
    constant! {
        pub(crate) fn new() -> Self {
            Self { word: AtomicU64::new(NEW), queue: Queue::new(()) }
        }
    }

    constant! {
        /// One that is done.
        pub(crate) fn done() -> Self {
            Self { word: AtomicU64::new(DONE), queue: Queue::new(()) }
        }
    }

    /// Whether it is done. If so, all that whoever did it has done is seen.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        // Acquire: pairs with the release of `end`.
        self.word.load(Ordering::Acquire) == DONE
    }

    /// Waits while somebody else does it, and has the caller do it if it is not done then.
    #[cold]
    pub(crate) fn begin(&self, failure: OnceFailure) -> OnceBegun {
        let (running, mut limit) = (running(rt::caller()), Limit::NEVER);
        loop {
            // Acquire, here and below: pairs with the release of `end`. What one that failed has left is seen too.
            match self.word.load(Ordering::Acquire) {
                DONE => return OnceBegun::Done,
                FAILED if failure == OnceFailure::Counts => return OnceBegun::Failed,
                before @ (NEW | FAILED) => {
                    let begun =
                        self.word.compare_exchange(before, running, Ordering::Acquire, Ordering::Relaxed);
                    if begun.is_ok() {
                        return OnceBegun::Run { has_failed: before == FAILED };
                    }
                }
                now if now == running => return OnceBegun::Reentered,
                _ => {
                    let _ = self.wait_while(limit.next_wait(), is_running);
                }
            }
        }
    }

    /// For whoever runs it: it has done so, or failed.
    #[cold]
    pub(crate) fn end(&self, end: OnceEnd) {
        let word = if end == OnceEnd::Done { DONE } else { FAILED };
        let queue = self.queue.lock();
        // Release: pairs with the acquire of whoever finds it so.
        self.word.store(word, Ordering::Release);
        drop(queue);
        // Whoever has seen it running has had the lock before, and is not overlooked.
        if !self.queue.seems_empty() {
            self.queue.wake_all(|()| ());
        }
    }

    /// Waits until it is done, by somebody.
    ///
    /// # Errors
    ///
    /// If the limit is reached before.
    #[cold]
    pub(crate) fn wait(&self, failure: OnceFailure, mut limit: Limit) -> Result<OnceSeen, GaveUp> {
        let running = running(rt::caller());
        let is_open =
            |word| !(word == DONE || word == FAILED && failure == OnceFailure::Counts || word == running);
        loop {
            // Acquire: pairs with the release of `end`.
            match self.word.load(Ordering::Acquire) {
                DONE => return Ok(OnceSeen::Done),
                FAILED if failure == OnceFailure::Counts => return Ok(OnceSeen::Failed),
                now if now == running => return Ok(OnceSeen::Reentered),
                _ => self.wait_while(limit.next_wait(), is_open)?,
            }
        }
    }

    /// Waits once for as long as this is true of the word, and nobody ends it.
    fn wait_while(&self, limit: Limit, is_open: impl Fn(u64) -> bool) -> Result<(), GaveUp> {
        // Relaxed: it ends under the lock.
        let word = || self.word.load(Ordering::Relaxed);
        match self.queue.wait(WaitKind::Once, (), limit, |_, ()| is_open(word()).then_some(Place::Back)).0 {
            Outcome::NotNeeded | Outcome::Woken => Ok(()),
            Outcome::TimedOut => Err(GaveUp::TimedOut),
            Outcome::Stopped(stop) => Err(GaveUp::Stopped(stop)),
        }
    }
}

/// The word while this one runs it.
fn running(number: NonZero<u64>) -> u64 {
    number.get() + RUNNING
}

fn is_running(word: u64) -> bool {
    word > RUNNING
}
