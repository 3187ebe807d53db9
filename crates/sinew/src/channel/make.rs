//! How channels are made.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::clock::Clock;
use super::{Channel, Receiver, Sender};
use crate::rt;

/// A channel without a bound: sending never waits for room. After a number of sends in a row, a
/// fiber [lets others run](crate::fiber#turns); `try_send` never suspends.
///
/// ```
/// let (sender, receiver) = sinew::channel::unbounded();
/// sender.send(1).unwrap();
/// sender.send(2).unwrap();
/// drop(sender);
/// assert_eq!(receiver.iter().collect::<Vec<_>>(), [1, 2]);
/// ```
#[must_use]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    handles(Channel::unbounded())
}

/// A channel that keeps up to `cap` messages: whoever sends one more waits. With 0, who sends and who receives wait for each other.
///
/// ```
/// use sinew::channel::{self, TrySendError};
///
/// let (sender, receiver) = channel::bounded(1);
/// sender.send(1).unwrap();
/// assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
/// assert_eq!(receiver.recv(), Ok(1));
/// ```
///
/// Any capacity will do: if the messages would take more than 64 KiB, memory is taken as they come.
#[must_use]
pub fn bounded<T>(cap: usize) -> (Sender<T>, Receiver<T>) {
    handles(Channel::bounded(cap))
}

fn handles<T>(channel: Channel<T>) -> (Sender<T>, Receiver<T>) {
    let channel = Arc::new(channel);
    (Sender::new(channel.clone()), Receiver::new(channel))
}

fn clock(first: Option<Instant>, every: Option<Duration>) -> Receiver<Instant> {
    let clock = first.map_or_else(Clock::never, |first| Clock::new(first, every, |time| time));
    Receiver::new(Arc::new(Channel::clock(clock)))
}

/// One message after this time: the moment at which it came. For ever nothing, if that is beyond the end of the clock.
///
/// ```
/// use sinew::channel;
/// use std::time::{Duration, Instant};
///
/// let start = Instant::now();
/// let came = channel::after(Duration::from_millis(2)).recv().unwrap();
/// assert!(came >= start + Duration::from_millis(2));
/// ```
#[must_use]
pub fn after(duration: Duration) -> Receiver<Instant> {
    clock(rt::now().checked_add(duration), None)
}

/// One message at this moment: the moment itself.
#[must_use]
pub fn at(when: Instant) -> Receiver<Instant> {
    clock(Some(when), None)
}

/// A message after this time, again and again: the moment at which it came. The next one comes so long after the last one was received, and
/// none pile up.
///
/// ```
/// use sinew::channel;
/// use std::time::Duration;
///
/// let ticks = channel::tick(Duration::from_millis(1));
/// let times = ticks.iter().take(3).collect::<Vec<_>>();
/// assert!(times.is_sorted());
/// ```
#[must_use]
pub fn tick(duration: Duration) -> Receiver<Instant> {
    clock(rt::now().checked_add(duration), Some(duration))
}

/// No message, ever: for an arm of a `select!` that is there only sometimes.
///
/// ```
/// use sinew::channel;
///
/// assert!(channel::never::<u32>().try_recv().unwrap_err().is_empty());
/// ```
#[must_use]
pub fn never<T>() -> Receiver<T> {
    Receiver::new(Arc::new(Channel::clock(Clock::never())))
}
