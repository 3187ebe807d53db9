//! What both ends share: the value, or that none will come. All of it is under the lock of the wait queue, where values are moved and
//! never dropped. Knows no handle.
//!
//! At most one side waits at a time: who receives, while nothing was sent; or whoever watches the sending end, which is there then, and has sent
//! nothing. So one queue does for both, and what is sent is never left with somebody who does not want it.

use std::cell::Cell;
use std::mem;

use super::super::NotReceived;
use crate::rt::{self, Claimed, GaveUp, Limit, Place, Queue, WaitKind, pick};

/// The channel.
pub(super) struct OneshotShared<T> {
    /// One who waits to receive has a place for the value.
    queue: Queue<OneshotState<T>, Cell<Option<T>>>,
}

enum OneshotState<T> {
    /// Both ends are there, and nothing was sent.
    Open,
    Sent(T),
    /// Nothing was sent and nothing will be, or it was received.
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

    /// # Errors
    ///
    /// If nobody will receive it.
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

    /// # Errors
    ///
    /// If there is no value: [`TimedOut`](NotReceived::TimedOut), as if that time were over, or none will come.
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

    /// Waits for the value.
    ///
    /// # Errors
    ///
    /// If none will come, or the limit is reached.
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

    /// Returns whether no value waits to be received.
    pub(super) fn is_empty(&self) -> bool {
        !matches!(*self.queue.lock(), OneshotState::Sent(_))
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(*self.queue.lock(), OneshotState::Closed)
    }

    /// Waits until nobody will receive anything. For whoever has the sending end.
    ///
    /// # Errors
    ///
    /// If the limit is reached before.
    pub(super) fn wait_for_close(&self, limit: Limit) -> Result<(), GaveUp> {
        let is_open = |state: &OneshotState<T>| state.is_open().then_some(Place::Back);
        self.queue.wait(WaitKind::Closed, Cell::new(None), limit, |queue, _| is_open(queue)).0.into_result()
    }

    /// Nothing is sent after this. What was sent can still be received.
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
