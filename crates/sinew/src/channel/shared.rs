//! The state that the handles of both ends share: the flavour of the channel, and the numbers of
//! handles. Knows no handle.

use super::blocks::{Blocks, LEN as BLOCK};
use super::buffered::{Buffered, SendRefused};
use super::clock::Clock;
use super::reason::{NotReceived, NotSent};
use super::rendezvous::{Meets, Rendezvous};
use super::ring::Ring;
use crate::rt::Limit;
use crate::rt::sync::{AtomicUsize, Ordering, fence};

/// The most memory that a channel allocates in advance. A channel that might need more allocates
/// memory as messages arrive.
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
    /// Has no senders.
    Clock(Clock<T>),
}

/// Calls a function of the flavour, or evaluates the last expression for a clock.
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

/// Panic message for operations of senders: a clock has no handle for them.
const NO_SENDER: &str = "a clock has no senders";

impl<T> Channel<T> {
    /// Makes a channel that stores up to `capacity` messages, with one handle for each end.
    pub(crate) fn bounded(capacity: usize) -> Self {
        let bytes = capacity.saturating_mul(size_of::<T>().max(1));
        match capacity {
            0 => Self::new(Flavour::Rendezvous(Rendezvous::new())),
            // A ring with no more slots than a block is not larger than a block.
            _ if bytes <= LARGEST_RING || capacity <= BLOCK => {
                Self::new(Flavour::Ring(Buffered::new(Ring::new(capacity), Some(capacity))))
            }
            _ => Self::in_blocks(Some(capacity)),
        }
    }

    /// Makes a channel in blocks, which allocates memory as messages arrive.
    pub(super) fn in_blocks(limit: Option<usize>) -> Self {
        Self::new(Flavour::Blocks(Buffered::new(Blocks::new(), limit)))
    }

    /// Makes a channel without a bound, with one handle for each end.
    pub(crate) fn unbounded() -> Self {
        Self::in_blocks(None)
    }

    /// Makes a channel whose messages are due at certain times, with one receiver.
    pub(super) fn clock(clock: Clock<T>) -> Self {
        Self::new(Flavour::Clock(clock))
    }

    fn new(flavour: Flavour<T>) -> Self {
        Self { flavour, senders: AtomicUsize::new(1), receivers: AtomicUsize::new(1) }
    }

    /// Sends a message if there is room for it.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no room, or if all receivers are gone.
    #[inline]
    pub(crate) fn try_send(&self, message: T) -> Result<(), SendRefused<T>> {
        each!(self, flavour => flavour.try_send(message), _ => unreachable!("{}", NO_SENDER))
    }

    /// Sends a message, and waits until there is room for it.
    ///
    /// # Errors
    ///
    /// Returns an error if all receivers are gone, or if the limit is reached.
    #[inline]
    pub(crate) fn send(&self, message: T, limit: Limit) -> Result<(), NotSent<T>> {
        each!(self, flavour => flavour.send(message, limit), _ => unreachable!("{}", NO_SENDER))
    }

    /// Receives a message if there is one now.
    ///
    /// # Errors
    ///
    /// Returns [`TimedOut`](NotReceived::TimedOut) if there is no message, or another error if none
    /// will arrive.
    #[inline]
    pub(crate) fn try_receive(&self) -> Result<T, NotReceived> {
        match each!(self, flavour => flavour.try_receive(), clock => clock.try_receive()) {
            Some(message) => Ok(message),
            None => self.try_receive_slow(),
        }
    }

    #[cold]
    fn try_receive_slow(&self) -> Result<T, NotReceived> {
        // Of two callers that each send to the other one and then look here, at least one finds the
        // message: what was sent before the first of the two fences is visible after the second
        // one.
        fence(Ordering::SeqCst);
        self.look_for_message(Meets::IfOthersRun)
    }

    /// Receives a message if there is one now, without a fence. For callers that look again after a
    /// fence before they report that there is none.
    ///
    /// # Errors
    ///
    /// Returns an error as [`try_receive`](Self::try_receive) does.
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
        // Messages that were sent before the channel was closed are still received.
        each!(self, flavour => flavour.try_receive(), _ => None).ok_or(NotReceived::Closed)
    }

    /// Receives a message, and waits until there is one.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no message and all senders are gone, or if the limit is
    /// reached.
    #[inline]
    pub(crate) fn receive(&self, limit: Limit) -> Result<T, NotReceived> {
        each!(self, flavour => flavour.receive(limit), clock => clock.receive(limit))
    }

    /// Counts a new sender.
    pub(crate) fn add_sender(&self) {
        // Relaxed: the caller already has a sender.
        self.senders.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts out a sender. The last one closes the channel.
    pub(crate) fn drop_sender(&self) {
        // Release and acquire: what the other senders did happens before the close.
        if self.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            each!(self, flavour => flavour.close(), _ => ());
        }
    }

    /// Counts a new receiver.
    pub(crate) fn add_receiver(&self) {
        // Relaxed: as above.
        self.receivers.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts out a receiver. The last one closes the channel and drops all messages.
    pub(crate) fn drop_receiver(&self) {
        // Release, acquire: as above.
        if self.receivers.fetch_sub(1, Ordering::AcqRel) == 1 {
            each!(self, flavour => flavour.close(), _ => ());
            self.discard();
        }
    }

    /// Returns the number of messages that are stored.
    pub(super) fn len(&self) -> usize {
        match &self.flavour {
            Flavour::Ring(buffered) => buffered.len(),
            Flavour::Blocks(buffered) => buffered.len(),
            Flavour::Rendezvous(_) => 0,
            Flavour::Clock(clock) => usize::from(clock.has_message()),
        }
    }

    /// Returns the number of messages that can be stored, or `None` if there is no limit.
    pub(super) fn capacity(&self) -> Option<usize> {
        match &self.flavour {
            Flavour::Ring(buffered) => buffered.capacity(),
            Flavour::Blocks(buffered) => buffered.capacity(),
            Flavour::Rendezvous(_) => Some(0),
            Flavour::Clock(clock) => Some(clock.capacity()),
        }
    }

    /// Returns whether there is no room for a message.
    pub(super) fn is_full(&self) -> bool {
        match &self.flavour {
            Flavour::Ring(buffered) => buffered.is_full(),
            Flavour::Blocks(buffered) => buffered.is_full(),
            Flavour::Rendezvous(_) => true,
            Flavour::Clock(clock) => usize::from(clock.has_message()) >= clock.capacity(),
        }
    }

    /// Returns whether no message will ever be due.
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
