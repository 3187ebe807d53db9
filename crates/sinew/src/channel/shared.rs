//! What the handles of both ends share: the flavour, and how many handles there are. Knows no handle.

use super::blocks::{Blocks, LEN as BLOCK};
use super::buffered::{Buffered, SendRefused};
use super::clock::Clock;
use super::reason::{NotReceived, NotSent};
use super::rendezvous::{Meets, Rendezvous};
use super::ring::Ring;
use crate::rt::Limit;
use crate::rt::sync::{AtomicUsize, Ordering, fence};

/// The most memory that a channel takes at once for messages that may never come. One that may keep more takes it as they come.
const LARGEST_RING: usize = 64 * 1024;

/// The channel.
pub(crate) struct Channel<T> {
    pub(super) flavour: Flavour<T>,
    senders: AtomicUsize,
    receivers: AtomicUsize,
}

pub(super) enum Flavour<T> {
    Ring(Buffered<T, Ring<T>>),
    Blocks(Buffered<T, Blocks<T>>),
    Rendezvous(Rendezvous<T>),
    /// Nobody sends to it.
    Clock(Clock<T>),
}

/// Calls a function of whatever flavour it is, or does this if it is a clock.
macro_rules! each {
    ($channel:expr, $flavour:ident => $call:expr, $clock:pat => $instead:expr) => {
        match &$channel.flavour {
            Flavour::Ring($flavour) => $call,
            Flavour::Blocks($flavour) => $call,
            Flavour::Rendezvous($flavour) => $call,
            Flavour::Clock($clock) => $instead,
        }
    };
}

/// What nobody does to a clock: there is no handle for it.
const NO_SENDER: &str = "nobody sends to a clock";

impl<T> Channel<T> {
    /// One that keeps up to so many messages, with one handle for each end.
    pub(crate) fn bounded(capacity: usize) -> Self {
        let bytes = capacity.saturating_mul(size_of::<T>().max(1));
        match capacity {
            0 => Self::new(Flavour::Rendezvous(Rendezvous::new())),
            // A ring that has no more places than a block is no larger than one.
            _ if bytes <= LARGEST_RING || capacity <= BLOCK => {
                Self::new(Flavour::Ring(Buffered::new(Ring::new(capacity), Some(capacity))))
            }
            _ => Self::in_blocks(Some(capacity)),
        }
    }

    /// One that keeps up to so many, if there is a limit, and takes memory for them as they come.
    pub(super) fn in_blocks(limit: Option<usize>) -> Self {
        Self::new(Flavour::Blocks(Buffered::new(Blocks::new(), limit)))
    }

    /// One that keeps all messages, with one handle for each end.
    pub(crate) fn unbounded() -> Self {
        Self::in_blocks(None)
    }

    /// One whose messages come by the clock, with one handle to receive by.
    pub(super) fn clock(clock: Clock<T>) -> Self {
        Self::new(Flavour::Clock(clock))
    }

    fn new(flavour: Flavour<T>) -> Self {
        Self { flavour, senders: AtomicUsize::new(1), receivers: AtomicUsize::new(1) }
    }

    /// # Errors
    ///
    /// If there is no room, or nobody to receive it.
    #[inline]
    pub(crate) fn try_send(&self, message: T) -> Result<(), SendRefused<T>> {
        each!(self, flavour => flavour.try_send(message), _ => unreachable!("{}", NO_SENDER))
    }

    /// # Errors
    ///
    /// If nobody is left to receive it, or the limit is reached.
    #[inline]
    pub(crate) fn send(&self, message: T, limit: Limit) -> Result<(), NotSent<T>> {
        each!(self, flavour => flavour.send(message, limit), _ => unreachable!("{}", NO_SENDER))
    }

    /// Receives a message, if there is one now.
    ///
    /// # Errors
    ///
    /// If there is none: [`TimedOut`](NotReceived::TimedOut), as if that time were over, or none will come.
    #[inline]
    pub(crate) fn try_receive(&self) -> Result<T, NotReceived> {
        match each!(self, flavour => flavour.try_receive(), clock => clock.try_receive()) {
            Some(message) => Ok(message),
            None => self.try_receive_slow(),
        }
    }

    #[cold]
    fn try_receive_slow(&self) -> Result<T, NotReceived> {
        // Of two callers that each send to the other and then look here, one at least finds the
        // message: what was sent before the first of the two fences is seen after the second one.
        fence(Ordering::SeqCst);
        self.look_for_message(Meets::IfOthersRun)
    }

    /// The same, for callers that look once more after a fence before they report that there is nothing.
    ///
    /// # Errors
    ///
    /// As [`try_receive`](Self::try_receive).
    #[inline]
    pub(super) fn look_for_message(&self, meets: Meets) -> Result<T, NotReceived> {
        let message = match &self.flavour {
            Flavour::Rendezvous(rendezvous) => rendezvous.receive_now(meets),
            _ => each!(self, flavour => flavour.try_receive(), clock => clock.try_receive()),
        };
        match message {
            Some(message) => Ok(message),
            None => self.look_for_end(),
        }
    }

    #[cold]
    fn look_for_end(&self) -> Result<T, NotReceived> {
        if !each!(self, flavour => flavour.is_closed(), _ => false) {
            return Err(NotReceived::TimedOut);
        }
        // What was sent before the end is not overlooked.
        each!(self, flavour => flavour.try_receive(), _ => None).ok_or(NotReceived::Closed)
    }

    /// # Errors
    ///
    /// If there is none and nobody is left to send one, or the limit is reached.
    #[inline]
    pub(crate) fn receive(&self, limit: Limit) -> Result<T, NotReceived> {
        each!(self, flavour => flavour.receive(limit), clock => clock.receive(limit))
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
            each!(self, flavour => flavour.close(), _ => ());
        }
    }

    /// There is one more handle to receive by.
    pub(crate) fn add_receiver(&self) {
        // Relaxed: as above.
        self.receivers.fetch_add(1, Ordering::Relaxed);
    }

    /// There is one handle less to receive by. With the last one all messages are dropped.
    pub(crate) fn drop_receiver(&self) {
        // Release, acquire: as above.
        if self.receivers.fetch_sub(1, Ordering::AcqRel) == 1 {
            each!(self, flavour => flavour.close(), _ => ());
            self.discard();
        }
    }

    /// How many messages are kept.
    pub(super) fn len(&self) -> usize {
        match &self.flavour {
            Flavour::Ring(buffered) => buffered.len(),
            Flavour::Blocks(buffered) => buffered.len(),
            Flavour::Rendezvous(_) => 0,
            Flavour::Clock(clock) => usize::from(clock.has_message()),
        }
    }

    /// How many may be; none, if there is no limit.
    pub(super) fn capacity(&self) -> Option<usize> {
        match &self.flavour {
            Flavour::Ring(buffered) => buffered.capacity(),
            Flavour::Blocks(buffered) => buffered.capacity(),
            Flavour::Rendezvous(_) => Some(0),
            Flavour::Clock(clock) => Some(clock.capacity()),
        }
    }

    /// Whether a message has to wait for room.
    pub(super) fn is_full(&self) -> bool {
        match &self.flavour {
            Flavour::Ring(buffered) => buffered.is_full(),
            Flavour::Blocks(buffered) => buffered.is_full(),
            Flavour::Rendezvous(_) => true,
            Flavour::Clock(clock) => usize::from(clock.has_message()) >= clock.capacity(),
        }
    }

    /// Whether no message will ever come.
    pub(super) fn is_never(&self) -> bool {
        matches!(&self.flavour, Flavour::Clock(clock) if clock.capacity() == 0)
    }

    fn discard(&self) {
        match &self.flavour {
            Flavour::Ring(buffered) => buffered.discard(),
            Flavour::Blocks(buffered) => buffered.discard(),
            Flavour::Rendezvous(_) | Flavour::Clock(_) => {}
        }
    }
}
