//! Constructors of channels.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::clock::Clock;
use super::{Channel, Receiver, Sender};
use crate::rt;

/// Makes a channel without a bound: sending never waits for room. After a number of sends in a row,
/// a fiber [lets others run](crate::fiber#turns); `try_send` never suspends.
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

/// Makes a channel that stores up to `cap` messages. Senders wait while it is full. With a capacity
/// of 0, sender and receiver wait for each other.
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
/// The capacity may be any number: if the messages would need more than 64 KiB, memory is allocated
/// as they arrive. Difference from [`std::sync::mpsc::sync_channel`]: receivers can be cloned, too.
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

/// Makes a receiver of one message, which is due after `duration`. The message is the instant at
/// which it was due. If that is beyond the range of the clock, no message ever arrives.
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

/// Makes a receiver of one message, which is due at `when`. The message is that instant.
///
/// ```
/// use sinew::channel;
/// use std::time::Instant;
///
/// let now = Instant::now();
/// assert_eq!(channel::at(now).recv(), Ok(now));
/// ```
#[must_use]
pub fn at(when: Instant) -> Receiver<Instant> {
    clock(Some(when), None)
}

/// Makes a receiver of periodic messages, each the instant at which it was due. The first one is
/// due after `duration`, and each further one `duration` after the previous one was received, so
/// messages do not accumulate.
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

/// Makes a receiver that never gets a message, for an arm of a `select!` that is only used at
/// times.
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
