//! The state that both ends share, under the lock of the wait queue. Values are moved under that
//! lock and never dropped under it. Knows no handle.
//!
//! At most one side waits at a time: the receiver, while no value was sent, or the sender in
//! `closed`, which has not sent a value. So one queue serves both, and a value is never handed to a
//! waiting sender.

use std::cell::Cell;
use std::mem;

use super::super::NotReceived;
use crate::rt::{self, Claimed, GaveUp, Limit, Place, Queue, WaitKind, pick};

/// The channel.
pub(super) struct OneshotShared<T> {
    /// A waiting receiver has a place for the value.
    queue: Queue<OneshotState<T>, Cell<Option<T>>>,
}

enum OneshotState<T> {
    /// Both ends are alive, and no value was sent.
    Open,
    Sent(T),
    /// No value was sent and none will be, or the value was received.
    Closed,
}

impl<T> OneshotState<T> {
    fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }
}

impl<T> OneshotShared<T> {
    pub(super) fn new() -> Self {
        Self { queue: Queue::new(OneshotState::Open) }
    }

    /// Sends the value.
    ///
    /// # Errors
    ///
    /// Returns the value if it cannot be received any more.
    pub(super) fn send(&self, value: T) -> Result<(), T> {
        let mut queue = self.queue.lock();
        if !queue.is_open() {
            return Err(value);
        }
        let value = Cell::new(Some(value));
        let swap = |place: &Cell<Option<T>>| place.swap(&value);
        let claimed = queue.claim(pick::First, swap, swap);
        *queue = value.into_inner().map_or(OneshotState::Closed, OneshotState::Sent);
        drop(queue);
        claimed.into_iter().for_each(Claimed::go);
        Ok(())
    }

    /// Receives the value if it was sent.
    ///
    /// # Errors
    ///
    /// Returns [`TimedOut`](NotReceived::TimedOut) if the value was not sent yet, or another error
    /// if there will be none.
    pub(super) fn try_receive(&self) -> Result<T, NotReceived> {
        let mut queue = self.queue.lock();
        if queue.is_open() {
            return Err(NotReceived::TimedOut);
        }
        match mem::replace(&mut *queue, OneshotState::Closed) {
            OneshotState::Sent(value) => Ok(value),
            OneshotState::Open | OneshotState::Closed => Err(NotReceived::Closed),
        }
    }

    /// Receives the value, and waits until it is sent.
    ///
    /// # Errors
    ///
    /// Returns an error if there will be no value, or if the limit is reached.
    pub(super) fn receive(&self, limit: Limit) -> Result<T, NotReceived> {
        rt::spend(1);
        match self.try_receive() {
            Err(NotReceived::TimedOut) => self.receive_slow(limit),
            received => received,
        }
    }

    #[cold]
    fn receive_slow(&self, limit: Limit) -> Result<T, NotReceived> {
        let is_open = |state: &OneshotState<T>| state.is_open().then_some(Place::Back);
        let (outcome, value) =
            self.queue.wait(WaitKind::Receive, Cell::new(None), limit, |queue, _| is_open(queue));
        if let Some(value) = value.into_inner() {
            return Ok(value);
        }
        outcome.into_result()?;
        self.try_receive()
    }

    /// Returns whether there is no value to receive.
    pub(super) fn is_empty(&self) -> bool {
        !matches!(*self.queue.lock(), OneshotState::Sent(_))
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(*self.queue.lock(), OneshotState::Closed)
    }

    /// Waits until no value can be received any more. Called by the sender.
    ///
    /// # Errors
    ///
    /// Returns an error if the limit is reached before.
    pub(super) fn wait_for_close(&self, limit: Limit) -> Result<(), GaveUp> {
        let is_open = |state: &OneshotState<T>| state.is_open().then_some(Place::Back);
        self.queue.wait(WaitKind::Closed, Cell::new(None), limit, |queue, _| is_open(queue)).0.into_result()
    }

    /// Closes the channel. A value that was sent can still be received.
    pub(super) fn close(&self) {
        let mut queue = self.queue.lock();
        if queue.is_open() {
            *queue = OneshotState::Closed;
        }
        let waits = !queue.is_empty();
        drop(queue);
        if waits {
            self.queue.wake_all(|_| ());
        }
    }
}
