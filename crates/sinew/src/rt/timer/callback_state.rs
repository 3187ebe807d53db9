//! The state of a timer with a callback. The table in [`callback`](super::callback) shows how it
//! changes.

use std::num::NonZero;

use super::ticks::Ticks;
use crate::rt::wait::WaitTimerId;

/// The phase of a timer, its ticks, and how often it was due.
pub(super) struct CallbackState {
    pub(super) phase: CallbackPhase,
    /// The moments at which it is due, or was.
    pub(super) ticks: Ticks,
    /// How often it was due.
    pub(super) run: u64,
}

#[derive(Clone, Copy)]
pub(super) enum CallbackPhase {
    Idle,
    /// Its entry. `None` if its moment lies beyond the end of the clock.
    Armed(Option<WaitTimerId>),
    /// There is a fiber, which has not begun.
    TimerAction,
    /// This fiber runs the callback.
    Running(NonZero<u64>, Then),
}

/// What follows a callback.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Nothing,
    /// The next tick.
    NextTick,
    /// New ticks: it was armed meanwhile.
    Anew,
}

impl CallbackState {
    /// Returns the number of the running callback, and its fiber.
    pub(super) fn running(&self) -> Option<(u64, NonZero<u64>)> {
        match self.phase {
            CallbackPhase::Running(fiber, _) => Some((self.run, fiber)),
            CallbackPhase::Idle | CallbackPhase::Armed(_) | CallbackPhase::TimerAction => None,
        }
    }

    pub(super) fn is_running(&self, run: u64) -> bool {
        self.running().is_some_and(|(running, _)| running == run)
    }
}
