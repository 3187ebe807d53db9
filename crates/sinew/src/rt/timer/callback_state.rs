//! The state of a timer that calls back. The table in [`callback`](super::callback) says how it
//! changes.

use std::num::NonZero;

use super::ticks::Ticks;
use crate::rt::wait::WaitTimerId;

/// What a timer is doing, when it is due, and how often it has been.
pub(super) struct CallbackState {
    pub(super) phase: CallbackPhase,
    /// When it is due, or was.
    pub(super) ticks: Ticks,
    /// How often it has been due.
    pub(super) run: u64,
}

#[derive(Clone, Copy)]
pub(super) enum CallbackPhase {
    Idle,
    /// Its entry; none, if its moment lies beyond the clock's end.
    Armed(Option<WaitTimerId>),
    /// There is a fiber, which has not begun.
    TimerAction,
    /// This fiber calls back.
    Running(NonZero<u64>, Then),
}

/// What comes after a callback.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Nothing,
    /// The tick after this one.
    NextTick,
    /// It was armed meanwhile.
    Anew,
}

impl CallbackState {
    /// The number of the callback that runs, and its fiber.
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
