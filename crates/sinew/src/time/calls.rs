//! Timers that are armed when they are made.

use std::panic::Location;
use std::time::{Duration, Instant};

use super::schedule::Schedule;
use super::timer::Timer;

/// Calls back once, so long from now: at once if that is zero, though never inside this call;
/// never, if an [`Instant`] cannot represent that moment.
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
/// Armed again after that, it has nothing left to call; [`Timer::new`] makes one that has.
///
/// On a plain thread the default runtime keeps the timer. Once that runtime was shut down, the
/// callback is dropped without being called.
#[inline]
#[track_caller]
pub fn after(delay: Duration, callback: impl FnOnce() + Send + 'static) -> Timer {
    once(Schedule::after(delay), Location::caller(), callback)
}

/// Calls back once, at this moment: at once, if it has passed.
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

/// Calls back again and again: the first time a period from now, and then at multiples of the period from there, however long callbacks take.
/// Ticks that pass meanwhile come at once, one after the other; [`Schedule::missed`] says what else can become of them.
///
/// The callback cannot end its own timer, not knowing it: that of [`Timer::with_id`] can.
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
/// If the period is zero.
#[track_caller]
pub fn every(period: Duration, mut callback: impl FnMut() + Send + 'static) -> Timer {
    let schedule = Schedule::every(period);
    let timer = Timer::plain(Location::caller(), move |_| callback());
    timer.arm(schedule);
    timer
}
