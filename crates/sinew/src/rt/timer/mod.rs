//! Timers: the wheels, the timers of a core under their lock, and timers with callbacks. Knows
//! neither how fibers are made nor what a core sleeps in.

mod action;
pub(super) mod callback;
pub(super) mod callback_spec;
mod callback_state;
pub(super) mod core_timers;
pub(super) mod homes;
pub(super) mod ticks;
pub(super) mod timer_queue;
mod timers_guard;
mod wheels;

pub(super) use callback::Callback;
pub(super) use core_timers::{CoreTimers, DueCallback, TimersOwner};
pub(super) use homes::TimerHomes;
