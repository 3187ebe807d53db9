//! Time: sleeps, time limits, intervals, and timers that call back.
//!
//! | to | use |
//! | --- | --- |
//! | wait for a while, or until a moment | [`sleep`], [`sleep_until`] |
//! | limit the time of some code | [`timeout()`], [`fiber::with_deadline`](crate::fiber::with_deadline) |
//! | do something periodically, in a loop | [`interval()`], [`interval_at`] |
//! | call a function once, later | [`after`], [`at`] |
//! | call a function periodically | [`every`] |
//! | create a timer now and arm it later, or repeatedly | [`Timer::new`], [`Timer::arm`] |
//! | let a callback cancel its own timer | [`Timer::with_id`], [`TimerId::cancel`] |
//! | give the callbacks a name or another stack, choose the runtime | [`Timer::builder`] |
//!
//! All of these work on fibers and on plain threads. The clock is that of
//! [`Instant`](std::time::Instant), which never goes back. Nothing happens early. How late it
//! happens depends on how busy the workers are, and by design on how far ahead it was set: by up to
//! a 64th of that time, and by at most a millisecond. A sleep of less than a millisecond is as
//! precise as the kernel's wake-up of a thread, which by default may be 50 µs late.
//!
//! # Callbacks
//!
//! Each call of a callback runs on a fiber of its own, so it may do everything that a fiber may do:
//! wait, spawn fibers, set timers. The fiber belongs to the runtime of the fiber that created the
//! timer, or to the default one if a plain thread created it. Such fibers do not count towards
//! [`max_fibers`](crate::RuntimeBuilder::max_fibers). If the worker where the timer was created
//! computes for long, another worker runs the callback.
//!
//! A callback runs in the [context](crate::context) in which its timer was created, without a
//! deadline, and no cancel reaches it.
//!
//! Callbacks of one timer never overlap. If a callback panics, only the panic hook reports it, and
//! its timer stops, because the state of the callback may be inconsistent. The timer can be armed
//! again.
//!
//! # Cancelling
//!
//! A [`Timer`] is a guard: dropping it cancels the timer, unless it was [detached](Timer::detach).
//! A callback that runs is not interrupted; [`Timer::cancel_and_wait`] waits for its end.
//!
//! ```
//! use sinew::time;
//! use std::sync::atomic::{AtomicU32, Ordering};
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! let beats = Arc::new(AtomicU32::new(0));
//! let count = beats.clone();
//! let heart = time::every(Duration::from_millis(1), move || {
//!     count.fetch_add(1, Ordering::Relaxed);
//! });
//! while beats.load(Ordering::Relaxed) < 3 {
//!     time::sleep(Duration::from_millis(1));
//! }
//! heart.cancel_and_wait()?;
//! // From here on the callback is not called any more.
//! let last = beats.load(Ordering::Relaxed);
//! time::sleep(Duration::from_millis(3));
//! assert_eq!(beats.load(Ordering::Relaxed), last);
//! # Ok::<(), time::CancelError>(())
//! ```
//!
//! # Shutdown
//!
//! The shutdown of a runtime does not wait for timers: no callback is called once it has begun.
//! What the callbacks hold is dropped by the thread that waits for the shutdown, or by the last
//! worker if no thread waits.

mod builder;
mod calls;
mod error;
mod interval;
mod missed_ticks;
mod schedule;
mod timeout;
mod timer;
mod timer_id;

pub use builder::TimerBuilder;
pub use calls::{after, at, every};
pub use error::CancelError;
pub use interval::{Interval, interval, interval_at};
pub use missed_ticks::MissedTicks;
pub use schedule::Schedule;
pub use timeout::timeout;
pub use timer::Timer;
pub use timer_id::TimerId;

pub use crate::fiber::{sleep, sleep_cancellable, sleep_until, sleep_until_cancellable};
