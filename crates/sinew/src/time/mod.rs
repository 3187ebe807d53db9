//! Time: sleeping, timers that call back, intervals.
//!
//! | to | use |
//! | --- | --- |
//! | wait for a while, or until a moment | [`sleep`], [`sleep_until`] |
//! | have a stretch of code stop in time | [`timeout()`], [`fiber::with_deadline`](crate::fiber::with_deadline) |
//! | do something again and again, in a loop | [`interval()`], [`interval_at`] |
//! | have something done later, once | [`after`], [`at`] |
//! | have something done again and again | [`every`] |
//! | make a timer now and arm it later, or again and again | [`Timer::new`], [`Timer::arm`] |
//! | have a callback know its timer, and end it | [`Timer::with_id`], [`TimerId::cancel`] |
//! | give the callbacks a name or another stack, choose the runtime | [`Timer::builder`] |
//!
//! All of them work on fibers and on plain threads. The clock is that of [`Instant`](std::time::Instant), which never goes back. Nothing is early;
//! how late it is depends on how busy the workers are, and by design on how far off it was when it was set: by up to a 64th of that, and by
//! a millisecond at most. A sleep of less than a millisecond ends as precisely as the kernel wakes a thread, whose timers it lets be 50 µs late
//! unless told otherwise.
//!
//! # Callbacks
//!
//! Each call of a callback is a fiber of its own, so it may do whatever a fiber may: wait, make fibers, set timers. It belongs to the runtime of
//! the fiber that made the timer; to the default one, if that was a plain thread. Such fibers do not count against
//! [`max_fibers`](crate::RuntimeBuilder::max_fibers). If the worker where the timer was made computes for long, another one calls back in its place.
//!
//! A callback runs in the [context](crate::context) in which its timer was made, without a deadline and cancelled by nobody.
//!
//! Callbacks of one timer never overlap. The panic hook tells of one that panics, and nobody else; its timer stops, since what the callback
//! holds may be half done, and can be armed again.
//!
//! # Cancelling
//!
//! A [`Timer`] is a guard: dropping it cancels, unless it was [detached](Timer::detach). A callback that runs is not interrupted;
//! [`Timer::cancel_and_wait`] waits for its end.
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
//! // From here on it beats no more.
//! let last = beats.load(Ordering::Relaxed);
//! time::sleep(Duration::from_millis(3));
//! assert_eq!(beats.load(Ordering::Relaxed), last);
//! # Ok::<(), time::CancelError>(())
//! ```
//!
//! # At the end
//!
//! The shutdown of a runtime does not wait for timers: nobody is called any more once it has begun, and what they hold is dropped by whoever shuts
//! down, or by the last worker if nobody waits for that.

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
