//! A channel that nobody sends to: its messages come by the clock, as long as somebody looks for them. Knows no timer: who receives sleeps.
//!
//! It is one word, the time of the next message. Whoever finds that it has come changes the word, and has the message.

use std::time::{Duration, Instant};

use super::reason::NotReceived;
use crate::rt::sync::{AtomicU64, Ordering};
use crate::rt::{self, Limit};

/// There is no next message.
const NEVER: u64 = u64::MAX;

/// The channel.
pub(super) struct Clock<T> {
    /// Times are counted from here, in nanoseconds.
    base: Instant,
    next: AtomicU64,
    every: Option<Duration>,
    is_never: bool,
    /// What a time is as a message.
    message: fn(Instant) -> T,
}

impl<T> Clock<T> {
    /// One message at this moment, and others after it, this far apart, if so.
    pub(super) fn new(first: Instant, every: Option<Duration>, message: fn(Instant) -> T) -> Self {
        Self { base: first, next: AtomicU64::new(0), every, is_never: false, message }
    }

    /// No message.
    pub(super) fn never() -> Self {
        let message = |_| unreachable!("there is no message");
        Self { base: rt::now(), next: AtomicU64::new(NEVER), every: None, is_never: true, message }
    }

    /// When the next message comes, if one does.
    pub(super) fn next(&self) -> Option<Instant> {
        // Relaxed: it is a number, and nothing is read because of it.
        self.time(self.next.load(Ordering::Relaxed))
    }

    fn time(&self, next: u64) -> Option<Instant> {
        (next != NEVER).then(|| self.base + Duration::from_nanos(next))
    }

    /// The message, if it has come.
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

    /// The message after one that is received now. Those that nobody has looked for in time are left out.
    fn after(&self, now: Instant) -> u64 {
        let after = self.every.and_then(|every| now.checked_add(every));
        after.map_or(NEVER, |after| (after - self.base).as_nanos().try_into().unwrap_or(NEVER))
    }

    /// Waits for the message.
    ///
    /// # Errors
    ///
    /// If the limit is reached.
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

    /// Whether there was no message at any moment since `stamp` was taken. A message that came and was
    /// received has changed the time of the next one.
    pub(super) fn is_empty_since(&self, stamp: u64) -> bool {
        !self.has_message() && self.next.load(Ordering::Relaxed) == stamp
    }

    /// One, if there ever is a message.
    pub(super) fn capacity(&self) -> usize {
        usize::from(!self.is_never)
    }
}
