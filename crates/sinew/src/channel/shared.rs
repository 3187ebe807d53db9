//! What the handles of both ends share: the flavour, and how many handles there are. Knows no handle.

use super::blocks::{Blocks, LEN as BLOCK};
use super::buffered::{Buffered, Refused};
use super::error::{NotReceived, NotSent};
use super::rendezvous::Rendezvous;
use super::ring::Ring;
use crate::rt::Limit;
use crate::rt::sync::{AtomicUsize, Ordering};

/// The most memory that a channel takes at once for messages that may never come. One that may keep more takes it as they come.
const LARGEST_RING: usize = 64 * 1024;

/// The channel.
pub(crate) struct Channel<T> {
    flavour: Flavour<T>,
    senders: AtomicUsize,
    receivers: AtomicUsize,
}

enum Flavour<T> {
    Ring(Buffered<T, Ring<T>>),
    Blocks(Buffered<T, Blocks<T>>),
    Rendezvous(Rendezvous<T>),
}

/// Calls a function of whatever flavour it is.
macro_rules! each {
    ($channel:expr, $flavour:ident => $call:expr) => {
        match &$channel.flavour {
            Flavour::Ring($flavour) => $call,
            Flavour::Blocks($flavour) => $call,
            Flavour::Rendezvous($flavour) => $call,
        }
    };
}

impl<T> Channel<T> {
    /// One that keeps up to so many messages, with one handle for each end.
    pub(crate) fn bounded(capacity: usize) -> Self {
        let bytes = capacity.saturating_mul(size_of::<T>().max(1));
        match capacity {
            0 => Self::new(Flavour::Rendezvous(Rendezvous::new())),
            // A ring that has no more places than a block is no larger than one.
            _ if bytes <= LARGEST_RING || capacity <= BLOCK => {
                Self::new(Flavour::Ring(Buffered::new(Ring::new(capacity), capacity)))
            }
            _ => Self::in_blocks(capacity),
        }
    }

    /// One that keeps up to so many, and takes memory for them as they come.
    pub(super) fn in_blocks(capacity: usize) -> Self {
        Self::new(Flavour::Blocks(Buffered::new(Blocks::new(), capacity)))
    }

    /// One that keeps all messages, with one handle for each end.
    pub(crate) fn unbounded() -> Self {
        Self::in_blocks(usize::MAX)
    }

    fn new(flavour: Flavour<T>) -> Self {
        Self { flavour, senders: AtomicUsize::new(1), receivers: AtomicUsize::new(1) }
    }

    /// # Errors
    ///
    /// If there is no room, or nobody to receive it.
    #[inline]
    pub(crate) fn try_send(&self, message: T) -> Result<(), Refused<T>> {
        each!(self, flavour => flavour.try_send(message))
    }

    /// # Errors
    ///
    /// If nobody is left to receive it, or the limit is reached.
    #[inline]
    pub(crate) fn send(&self, message: T, limit: Limit) -> Result<(), NotSent<T>> {
        each!(self, flavour => flavour.send(message, limit))
    }

    /// A message, if there is one now.
    ///
    /// # Errors
    ///
    /// If there is none: [`TimedOut`](NotReceived::TimedOut), as if that time were over, or none will come.
    #[inline]
    pub(crate) fn try_receive(&self) -> Result<T, NotReceived> {
        match each!(self, flavour => flavour.try_receive()) {
            Some(message) => Ok(message),
            None => self.try_receive_slow(),
        }
    }

    #[cold]
    fn try_receive_slow(&self) -> Result<T, NotReceived> {
        if !each!(self, flavour => flavour.is_closed()) {
            return Err(NotReceived::TimedOut);
        }
        // What was sent before the end is not overlooked.
        each!(self, flavour => flavour.try_receive()).ok_or(NotReceived::Closed)
    }

    /// # Errors
    ///
    /// If there is none and nobody is left to send one, or the limit is reached.
    #[inline]
    pub(crate) fn receive(&self, limit: Limit) -> Result<T, NotReceived> {
        each!(self, flavour => flavour.receive(limit))
    }

    /// There is one more handle to send by.
    pub(crate) fn add_sender(&self) {
        // Relaxed: whoever adds one has one.
        self.senders.fetch_add(1, Ordering::Relaxed);
    }

    /// There is one less.
    pub(crate) fn drop_sender(&self) {
        // Release, acquire: whatever was done by the others comes before the end.
        if self.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            each!(self, flavour => flavour.close());
        }
    }

    /// There is one handle less to receive by. With the last one all messages are dropped.
    pub(crate) fn drop_receiver(&self) {
        // Release, acquire: as above.
        if self.receivers.fetch_sub(1, Ordering::AcqRel) == 1 {
            each!(self, flavour => flavour.close());
            self.discard();
        }
    }

    fn discard(&self) {
        match &self.flavour {
            Flavour::Ring(buffered) => buffered.discard(),
            Flavour::Blocks(buffered) => buffered.discard(),
            Flavour::Rendezvous(_) => {}
        }
    }
}
