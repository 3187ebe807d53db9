//! What a fiber is doing, seen from outside.

use super::reference::Fiber;
use crate::rt::Status;

/// What a fiber is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// Has not begun.
    New,
    /// Has begun, and is to run as soon as its turn comes.
    Ready,
    /// Runs.
    Running,
    /// Waits.
    Parked,
    /// Has ended, or was discarded or abandoned at the shutdown of its runtime.
    Done,
}

impl Fiber {
    /// What it is doing, or was a moment ago. A plain thread is said to run.
    ///
    /// ```
    /// use sinew::fiber::{self, State};
    ///
    /// sinew::run(|| {
    ///     assert_eq!(fiber::current().state(), State::Running);
    ///     let waiting = fiber::spawn(fiber::park);
    ///     while waiting.thread().state() != State::Parked {
    ///         fiber::yield_now();
    ///     }
    ///     waiting.thread().unpark();
    ///     let fiber = waiting.thread().clone();
    ///     waiting.join().unwrap();
    ///     assert_eq!(fiber.state(), State::Done);
    /// });
    /// ```
    #[must_use]
    pub fn state(&self) -> State {
        match self.inner().status() {
            None | Some(Status::Running) => State::Running,
            Some(Status::New) => State::New,
            Some(Status::Ready) => State::Ready,
            Some(Status::Parked) => State::Parked,
            Some(Status::Done) => State::Done,
        }
    }
}
