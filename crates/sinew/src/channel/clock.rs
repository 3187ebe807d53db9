//! A channel without senders: a message is due when its time is reached. Knows no timer: a receiver
//! sleeps until then.
//!
//! The state is one word, the time of the next message. The receiver that changes the word after
//! that time has the message.

use std::time::{Duration, Instant};

use super::reason::NotReceived;
use crate::rt::sync::{AtomicU64, Ordering};
use crate::rt::{self, Limit};

/// The word if there is no next message.
const NEVER: u64 = u64::MAX;

/// The channel.
pub(super) struct Clock<T> {
    /// The origin of all times, which are counted in nanoseconds.
    base: Instant,
    next: AtomicU64,
    every: Option<Duration>,
    is_never: bool,
    /// Converts a time into a message.
    message: fn(Instant) -> T,
}

impl<T> Clock<T> {
    /// Makes a channel whose first message is due at `first`. If `every` is given, further messages
    /// follow at this interval.
    pub(super) fn new(first: Instant, every: Option<Duration>, message: fn(Instant) -> T) -> Self {
        Self { base: first, next: AtomicU64::new(0), every, is_never: false, message }
    }

    /// Makes a channel without messages.
    pub(super) fn never() -> Self {
        let message = |_| unreachable!("there is no message");
        Self { base: rt::now(), next: AtomicU64::new(NEVER), every: None, is_never: true, message }
    }

    /// Returns when the next message is due, if there is one.
    pub(super) fn next(&self) -> Option<Instant> {
        // Relaxed: no other data is read because of this value.
        self.time(self.next.load(Ordering::Relaxed))
    }

    fn time(&self, next: u64) -> Option<Instant> {
        (next != NEVER).then(|| self.base + Duration::from_nanos(next))
    }

    /// Receives the message if it is due.
    #[inline(never)]
    pub(super) fn try_receive(&self) -> Option<T> {
        let mut next = self.next.load(Ordering::Relaxed);
        loop {
            let (now, time) = (rt::now(), self.time(next)?);
            if now < time {
                return None;
            }
            match self.next.compare_exchange(next, self.after(now), Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some((self.message)(time)),
                Err(other) => next = other,
            }
        }
    }

    /// Returns the time of the message that follows a message received at `now`. Messages that were
    /// missed are skipped.
    fn after(&self, now: Instant) -> u64 {
        let after = self.every.and_then(|every| now.checked_add(every));
        after.map_or(NEVER, |after| (after - self.base).as_nanos().try_into().unwrap_or(NEVER))
    }

    /// Waits for the message.
    ///
    /// # Errors
    ///
    /// Returns an error if the limit is reached.
    #[inline(never)]
    pub(super) fn receive(&self, limit: Limit) -> Result<T, NotReceived> {
        loop {
            if let Some(message) = self.try_receive() {
                return Ok(message);
            }
            limit.sleep_until(self.next())?;
        }
    }

    pub(super) fn has_message(&self) -> bool {
        self.next().is_some_and(|next| next <= rt::now())
    }

    /// Returns a stamp for [`is_empty_since`](Self::is_empty_since).
    pub(super) fn stamp(&self) -> u64 {
        // Relaxed: as in `next`.
        self.next.load(Ordering::Relaxed)
    }

    /// Returns whether no message was due at any moment since `stamp` was taken. A message that was
    /// due and was received has changed the time of the next one.
    pub(super) fn is_empty_since(&self, stamp: u64) -> bool {
        !self.has_message() && self.next.load(Ordering::Relaxed) == stamp
    }

    /// Returns one, or zero if there is never a message.
    pub(super) fn capacity(&self) -> usize {
        usize::from(!self.is_never)
    }
}
