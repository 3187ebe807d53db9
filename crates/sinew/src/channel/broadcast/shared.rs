//! What all handles share: what is kept, and those who wait for more. Knows no handle.

use std::sync::Arc;

use super::error::SendError;
use super::kept::{FoundValue, KeptRing, KeptValues};
use crate::raw::RawGate;
use crate::rt::{self, GaveUp, Limit, Locked, Place, Queue, WaitKind, drop_each};

/// The channel.
pub(super) struct BroadcastShared<T> {
    /// Whoever waits to receive waits in it, and has received all.
    queue: Queue<KeptValues<T>, ()>,
    /// Senders that wait until there is no receiver. Its lock is taken before that of `queue`.
    no_receivers: RawGate,
}

/// The right to what is in it.
type LockedKept<'a, T> = Locked<'a, KeptValues<T>, ()>;

/// Why there is no value.
pub(super) enum NoValue {
    Closed,
    Lagged(u64),
    /// There is none now.
    GaveUp(GaveUp),
}

impl<T> BroadcastShared<T> {
    /// With one who sends.
    pub(super) fn new(capacity: usize) -> Self {
        Self { queue: Queue::new(KeptValues::new(capacity)), no_receivers: RawGate::new() }
    }

    /// Shows what is kept, to be looked at or counted.
    pub(super) fn with<R>(&self, look: impl FnOnce(&mut KeptValues<T>) -> R) -> R {
        look(&mut self.queue.lock())
    }

    /// The number of those who will have it.
    ///
    /// # Errors
    ///
    /// If nobody listens.
    pub(super) fn send(&self, value: T) -> Result<usize, SendError<T>> {
        rt::spend(1);
        let (value, mut ring) = (Arc::new(value), KeptRing::new(0));
        let mut queue = self.lock_with_place(&mut ring);
        let receivers = queue.receivers;
        if receivers == 0 {
            drop(queue);
            let value = Arc::into_inner(value).expect("nobody else has seen it");
            return Err(SendError(value));
        }
        let oldest = queue.push(value);
        let somebody_waits = !queue.is_empty();
        drop(queue);
        if somebody_waits {
            self.queue.wake_all(|()| ());
        }
        drop(oldest);
        Ok(receivers)
    }

    /// The lock, with a place in the ring for one more, if there may be one more. What the ring was before is left to the caller, who drops it
    /// without the lock.
    fn lock_with_place(&self, ring: &mut KeptRing<T>) -> LockedKept<'_, T> {
        loop {
            let mut queue = self.queue.lock();
            match queue.wants_ring() {
                Some(size) if size > ring.size() => {
                    drop(queue);
                    *ring = KeptRing::new(size);
                }
                Some(_) => {
                    queue.move_into(ring);
                    return queue;
                }
                None => return queue,
            }
        }
    }

    /// The next value of a receiver, if there is one.
    ///
    /// # Errors
    ///
    /// If there is none, or it is not kept any more.
    pub(super) fn try_receive(&self, next: &mut u64) -> Result<Arc<T>, NoValue> {
        let mut queue = self.queue.lock();
        match queue.find(next) {
            FoundValue::Value(value) => Ok(value),
            FoundValue::Lagged(missed) => Err(NoValue::Lagged(missed)),
            FoundValue::Nothing if queue.senders == 0 => Err(NoValue::Closed),
            FoundValue::Nothing => Err(NoValue::GaveUp(GaveUp::TimedOut)),
        }
    }

    /// Waits for the next value of a receiver.
    ///
    /// # Errors
    ///
    /// If it is not kept any more, none will come, or the limit is reached.
    pub(super) fn receive(&self, next: &mut u64, mut limit: Limit) -> Result<Arc<T>, NoValue> {
        rt::spend(1);
        loop {
            match self.try_receive(next) {
                Err(NoValue::GaveUp(_)) => {}
                received => return received,
            }
            let at = *next;
            let is_over =
                |kept: &KeptValues<T>| (kept.end() == at && kept.senders > 0).then_some(Place::Back);
            let (outcome, ()) =
                self.queue.wait(WaitKind::Receive, (), limit.next_wait(), |queue, ()| is_over(queue));
            outcome.into_result().map_err(NoValue::GaveUp)?;
        }
    }

    /// One who sends is gone.
    pub(super) fn drop_sender(&self) {
        let is_last = self.with(|kept| {
            kept.senders -= 1;
            kept.senders == 0
        });
        if is_last {
            self.queue.wake_all(|()| ());
        }
    }

    /// Waits until there is no receiver.
    ///
    /// No wake-up is lost: the caller looks at the number of receivers under the lock of the gate,
    /// and [`drop_receiver`](Self::drop_receiver) changes it under that lock. So the caller sees
    /// zero, or is at the gate when that opens it. Receivers that subscribe later do not keep it
    /// waiting.
    ///
    /// # Errors
    ///
    /// If the limit is reached before.
    pub(super) fn wait_for_close(&self, limit: Limit) -> Result<(), GaveUp> {
        rt::spend(1);
        let is_closed = || self.with(|kept| kept.receivers == 0);
        if is_closed() {
            Ok(())
        } else {
            self.no_receivers.wait(WaitKind::Closed, limit, is_closed).into_result()
        }
    }

    /// Removes a receiver, whose next value this was, and wakes the senders that wait for the end
    /// of the last one. Drops the values that nobody else needs, whatever their destructors do.
    ///
    /// # Panics
    ///
    /// As [`drop_each`].
    pub(super) fn drop_receiver(&self, next: u64) {
        self.no_receivers.open_if(|| {
            self.with(|kept| {
                kept.leave(next);
                kept.receivers == 0
            })
        });
        drop_each(|| self.with(KeptValues::collect));
    }
}
