//! The wait state of a plain thread. Knows no fiber.

use std::time::Instant;

use super::bell::Bell;
use super::reason::{WaitOn, WaitReason};
use super::sleeper::Sleeper;
use super::stop::Poke;
use super::word::{Cause, Ends, Runner, WaitId, Word};

/// The wait state of a plain thread. Not freed while the thread runs.
#[derive(Debug)]
pub(crate) struct ThreadBlock {
    word: Word,
    /// Why the thread waits, or waited last.
    reason: WaitReason,
    /// Woken from the end of a wait until the thread begins the next one.
    sleeper: Sleeper,
    /// Signalled as well, for a thread that sleeps in the kernel on a descriptor.
    pub(crate) bell: Bell,
}

impl ThreadBlock {
    pub(crate) fn new() -> Self {
        Self { word: Word::new(), reason: WaitReason::new(), sleeper: Sleeper::new(), bell: Bell::new() }
    }

    /// Begins a wait.
    pub(crate) fn begin_wait(&self, on: WaitOn, ends: Ends) -> WaitId {
        self.sleeper.reset();
        self.reason.set(on);
        self.word.begin_wait(ends, Runner::Anybody).expect("no token is left for a thread")
    }

    /// Ends a wait. Returns false if it has ended already. The thread continues when it is
    /// [woken](Self::wake).
    pub(super) fn end(&self, wait: WaitId, cause: Cause) -> bool {
        self.word.end(wait, cause).is_some()
    }

    /// Returns whether a wait has not ended yet.
    #[cfg(test)]
    pub(super) fn is_waiting(&self, wait: WaitId) -> bool {
        self.word.is_open(wait)
    }

    /// Cancels a wait with nothing to wait for. If a waker has ended the wait already, waits until
    /// the waker has finished.
    pub(crate) fn cancel(&self, wait: WaitId) -> Cause {
        if !self.end(wait, Cause::Event) {
            return self.sleep(wait, None);
        }
        Cause::Event
    }

    pub(super) fn wake(&self) {
        self.sleeper.wake();
        self.bell.ring();
    }

    /// Returns whether a waker has ended the present wait of the thread.
    pub(crate) fn is_woken(&self) -> bool {
        self.sleeper.is_woken()
    }

    /// Sleeps until the wait has ended, or until this moment, at which it ends the wait itself.
    /// Returns what ended the wait.
    pub(crate) fn sleep(&self, wait: WaitId, until: Option<Instant>) -> Cause {
        while !self.sleeper.is_woken() {
            let left = Sleeper::left(until);
            if left.is_some_and(|left| left.is_zero()) && self.end(wait, Cause::Time) {
                return Cause::Time;
            }
            self.sleeper.sleep(left.filter(|left| !left.is_zero()));
        }
        self.word.cause()
    }
}

impl Poke for &'static ThreadBlock {
    fn poke(&self) {
        if self.word.poke().is_some() {
            self.wake();
        }
    }
}
