//! A channel that keeps no message: who sends and who receives meet. Knows nothing of counts and places.
//!
//! How it works, and why nobody misses another, is in the README beside this file.

use std::cell::Cell;

use super::buffered::Refused;
use super::reason::{NotReceived, NotSent};
use crate::rt::sync::{AtomicBool, Ordering};
use crate::rt::{Claimed, Limit, Place, Queue};

/// The message of one who waits to send, or for one who waits to receive.
type Message<T> = Cell<Option<T>>;

/// The channel.
pub(super) struct Rendezvous<T> {
    receivers: Queue<(), Message<T>>,
    senders: Queue<(), Message<T>>,
    /// Changed under the lock of `receivers`.
    is_closed: AtomicBool,
}

impl<T> Rendezvous<T> {
    pub(super) fn new() -> Self {
        Self { receivers: Queue::new(()), senders: Queue::new(()), is_closed: AtomicBool::new(false) }
    }

    pub(super) fn is_closed(&self) -> bool {
        // Acquire: pairs with the release of `close`.
        self.is_closed.load(Ordering::Acquire)
    }

    /// # Errors
    ///
    /// If nobody waits for it, or nobody is left to receive it.
    pub(super) fn try_send(&self, message: T) -> Result<(), Refused<T>> {
        let message = Cell::new(Some(message));
        let mut receivers = self.receivers.lock();
        let is_closed = self.is_closed();
        let met = if is_closed { None } else { receivers.claim_and_swap(|node| node.swap(&message)) };
        drop(receivers);
        met.into_iter().for_each(Claimed::go);
        match message.into_inner() {
            None => Ok(()),
            Some(message) if is_closed => Err(Refused::Closed(message)),
            Some(message) => Err(Refused::Full(message)),
        }
    }

    /// Waits for one who receives.
    ///
    /// # Errors
    ///
    /// If nobody is left to receive it, or the limit is reached.
    pub(super) fn send(&self, mut message: T, limit: Limit) -> Result<(), NotSent<T>> {
        loop {
            message = match self.try_send(message) {
                Ok(()) => return Ok(()),
                Err(Refused::Closed(message)) => return Err(NotSent::Closed(message)),
                Err(Refused::Full(message)) => message,
            };
            let (outcome, left) = self.senders.wait(Cell::new(Some(message)), limit, |_| {
                (self.receivers.seems_empty() && !self.is_closed()).then_some(Place::Back)
            });
            let Some(left) = left.into_inner() else { return Ok(()) };
            message = match outcome.into_result() {
                Err(why) => return Err(NotSent::gave_up(left, why)),
                Ok(()) => left,
            };
        }
    }

    /// None, if nobody waits to send.
    pub(super) fn try_receive(&self) -> Option<T> {
        let mut senders = self.senders.lock();
        let message = Cell::new(None);
        let met = senders.claim_and_swap(|node| node.swap(&message));
        drop(senders);
        met.into_iter().for_each(Claimed::go);
        message.into_inner()
    }

    /// Waits for one who sends.
    ///
    /// # Errors
    ///
    /// If nobody is left to send, or the limit is reached.
    pub(super) fn receive(&self, limit: Limit) -> Result<T, NotReceived> {
        loop {
            if let Some(message) = self.try_receive() {
                return Ok(message);
            }
            let (outcome, message) = self.receivers.wait(Cell::new(None), limit, |receivers| {
                receivers.announce();
                (self.senders.lock().is_empty() && !self.is_closed()).then_some(Place::Back)
            });
            if let Some(message) = message.into_inner() {
                return Ok(message);
            }
            outcome.into_result()?;
            if self.is_closed() {
                return self.try_receive().ok_or(NotReceived::Closed);
            }
        }
    }

    /// Nobody meets after this, and nobody waits.
    pub(super) fn close(&self) {
        let receivers = self.receivers.lock();
        // Release: pairs with the acquire of `is_closed`.
        self.is_closed.store(true, Ordering::Release);
        drop(receivers);
        self.receivers.wake_all(|_| ());
        self.senders.wake_all(|_| ());
    }
}
