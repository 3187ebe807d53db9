//! Functions that create an armed timer.

use std::panic::Location;
use std::time::{Duration, Instant};

use super::schedule::Schedule;
use super::timer::Timer;

/// Calls `callback` once, after `delay`. If the delay is zero this is at once, though never inside
/// this call. If an [`Instant`] cannot represent the moment, the callback is never called.
///
/// ```
/// use sinew::time;
/// use std::sync::mpsc;
/// use std::time::Duration;
///
/// let (sender, receiver) = mpsc::channel();
/// let _timer = time::after(Duration::from_millis(1), move || sender.send("now").unwrap());
/// assert_eq!(receiver.recv(), Ok("now"));
/// ```
///
/// A timer of this function has nothing to call if it is armed again after its callback has begun.
/// [`Timer::new`] creates a timer that can be armed repeatedly.
///
/// On a plain thread the timer belongs to the default runtime. If that runtime was shut down, the
/// callback is dropped without being called.
#[inline]
#[track_caller]
pub fn after(delay: Duration, callback: impl FnOnce() + Send + 'static) -> Timer {
    once(Schedule::after(delay), Location::caller(), callback)
}

/// Calls `callback` once, at this moment, or at once if the moment has passed.
///
/// ```
/// use sinew::time;
/// use std::sync::mpsc;
/// use std::time::{Duration, Instant};
///
/// let (sender, receiver) = mpsc::channel();
/// let moment = Instant::now() + Duration::from_millis(1);
/// time::at(moment, move || sender.send(Instant::now()).unwrap()).detach();
/// assert!(receiver.recv().unwrap() >= moment);
/// ```
#[inline]
#[track_caller]
pub fn at(when: Instant, callback: impl FnOnce() + Send + 'static) -> Timer {
    once(Schedule::at(when), Location::caller(), callback)
}

#[inline]
#[track_caller]
fn once(
    schedule: Schedule,
    location: &'static Location<'static>,
    callback: impl FnOnce() + Send + 'static,
) -> Timer {
    let mut callback = Some(callback);
    let timer = Timer::plain(location, move |_| callback.take().into_iter().for_each(|callback| callback()));
    timer.arm(schedule);
    timer
}

/// Calls `callback` repeatedly: first one period from now, and then at multiples of the period from
/// there, regardless of how long callbacks take. If ticks pass while a callback runs, they follow
/// at once, one after the other; [`Schedule::missed`] sets what else happens to them.
///
/// The callback cannot cancel its own timer, because it does not know it. The callback of
/// [`Timer::with_id`] can.
///
/// ```
/// use sinew::time;
/// use std::sync::mpsc;
/// use std::time::Duration;
///
/// let (sender, receiver) = mpsc::channel();
/// let timer = time::every(Duration::from_millis(1), move || sender.send(()).unwrap());
/// assert_eq!(receiver.iter().take(3).count(), 3);
/// timer.cancel();
/// ```
///
/// # Panics
///
/// Panics if the period is zero.
#[track_caller]
pub fn every(period: Duration, mut callback: impl FnMut() + Send + 'static) -> Timer {
    let schedule = Schedule::every(period);
    let timer = Timer::plain(Location::caller(), move |_| callback());
    timer.arm(schedule);
    timer
}
