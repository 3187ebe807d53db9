//! The state of a fiber, as other code observes it.

use super::reference::Fiber;
use crate::rt::Status;

/// The state of a fiber.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// The fiber has not begun.
    New,
    /// The fiber has begun, and is queued to run.
    Ready,
    /// The fiber is running.
    Running,
    /// The fiber waits.
    Parked,
    /// The fiber has ended, or was discarded or abandoned at the shutdown of its runtime.
    Done,
}

impl Fiber {
    /// Returns the state of the fiber, which may have changed since. A plain thread is always
    /// `Running`.
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
