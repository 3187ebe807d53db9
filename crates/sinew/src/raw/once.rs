//! The word of a one-time initialisation, and the queue of its waiters. Knows neither the
//! initialiser nor its result.
//!
//! | word | meaning | next |
//! | --- | --- | --- |
//! | new | no caller has begun | running, by a caller that begins |
//! | failed | a caller has begun, and panicked | running, by a caller that begins and ignores the failure |
//! | running, with a number | the caller with this number runs it | done or failed, by that caller |
//! | done | | – |
//!
//! The number tells a caller that comes again while it runs the initialiser that it would wait for
//! itself. Each caller writes only its own number, so a caller that reads its own number has
//! written it.
//!
//! No wake-up is lost: the run ends under the lock of the queue, and a waiter that enters the queue
//! checks the word under the same lock. So either the caller that ends the run finds the waiter in
//! the queue, or the waiter finds the run ended.

use std::num::NonZero;

use crate::rt::sync::{AtomicU64, Ordering, constant};
use crate::rt::{self, GaveUp, Limit, Outcome, Place, Queue, WaitKind};

const NEW: u64 = 0;
const FAILED: u64 = 1;
const DONE: u64 = 2;
/// The word of a running initialiser is this plus the number of its caller, which is not zero.
/// Numbers use less than half the range of the word, so the sum does not overflow.
const RUNNING: u64 = 2;

/// A one-time initialisation.
pub(crate) struct RawOnce {
    word: AtomicU64,
    queue: Queue<(), ()>,
}

/// What a caller that begins has to do.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnceBegun {
    /// Run the initialiser, and then call [`RawOnce::end`].
    Run { has_failed: bool },
    /// Nothing: it is done.
    Done,
    /// Nothing: it has failed, and the caller does not ignore that.
    Failed,
    /// Nothing: the caller itself is running it.
    Reentered,
}

/// What a waiter has seen.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnceSeen {
    Done,
    /// It has failed, and the caller does not ignore that.
    Failed,
    /// The caller itself is running it, and would wait for itself.
    Reentered,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnceEnd {
    Done,
    Failed,
}

/// What a failure means to the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnceFailure {
    /// The caller fails too.
    Counts,
    /// The caller may run the initialiser again, or waits for another run.
    IsIgnored,
}

impl RawOnce {
    constant! {
        pub(crate) fn new() -> Self {
            Self { word: AtomicU64::new(NEW), queue: Queue::new(()) }
        }
    }

    constant! {
        /// Creates a `RawOnce` that is done.
        pub(crate) fn done() -> Self {
            Self { word: AtomicU64::new(DONE), queue: Queue::new(()) }
        }
    }

    /// Returns whether it is done. If so, the caller sees all effects of the run.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        // Acquire: pairs with the release of `end`.
        self.word.load(Ordering::Acquire) == DONE
    }

    /// Waits while another caller runs the initialiser. Tells the caller to run it if it is not
    /// done then.
    #[cold]
    pub(crate) fn begin(&self, failure: OnceFailure) -> OnceBegun {
        let (running, mut limit) = (running(rt::caller()), Limit::NEVER);
        loop {
            // Acquire, here and below: pairs with the release of `end`. So the effects of a failed
            // run are visible too.
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

    /// Ends the run. Only the caller that runs the initialiser may call this.
    #[cold]
    pub(crate) fn end(&self, end: OnceEnd) {
        let word = if end == OnceEnd::Done { DONE } else { FAILED };
        let queue = self.queue.lock();
        // Release: pairs with the acquire of a caller that reads this word.
        self.word.store(word, Ordering::Release);
        drop(queue);
        // A waiter that has seen the running state has entered the queue under its lock before, so
        // the queue does not seem empty.
        if !self.queue.seems_empty() {
            self.queue.wake_all(|()| ());
        }
    }

    /// Waits until it is done, or has failed if the caller does not ignore that.
    ///
    /// # Errors
    ///
    /// Returns an error if the limit is reached first.
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

    /// Waits once, if `is_open` returns true for the word, until a run ends.
    fn wait_while(&self, limit: Limit, is_open: impl Fn(u64) -> bool) -> Result<(), GaveUp> {
        // Relaxed: the word changes under the lock of the queue, which the caller holds.
        let word = || self.word.load(Ordering::Relaxed);
        match self.queue.wait(WaitKind::Once, (), limit, |_, ()| is_open(word()).then_some(Place::Back)).0 {
            Outcome::NotNeeded | Outcome::Woken => Ok(()),
            Outcome::TimedOut => Err(GaveUp::TimedOut),
            Outcome::Stopped(stop) => Err(GaveUp::Stopped(stop)),
        }
    }
}

/// Returns the word while the caller with this number runs the initialiser.
fn running(number: NonZero<u64>) -> u64 {
    number.get() + RUNNING
}

fn is_running(word: u64) -> bool {
    word > RUNNING
}
