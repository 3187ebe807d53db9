//! The state that all handles share: the stored values, and the waiters. Knows no handle.

use std::sync::Arc;

use super::error::SendError;
use super::kept::{FoundValue, KeptRing, KeptValues};
use crate::raw::RawGate;
use crate::rt::{self, GaveUp, Limit, Locked, Place, Queue, WaitKind, drop_each};

/// The channel.
pub(super) struct BroadcastShared<T> {
    /// Receivers wait in it when they have received all values.
    queue: Queue<KeptValues<T>, ()>,
    /// Senders that wait until there is no receiver. Its lock is taken before that of `queue`.
    no_receivers: RawGate,
}

/// The lock of the stored values.
type LockedKept<'a, T> = Locked<'a, KeptValues<T>, ()>;

/// Why there is no value.
pub(super) enum NoValue {
    Closed,
    Lagged(u64),
    /// There is no value now.
    GaveUp(GaveUp),
}

impl<T> BroadcastShared<T> {
    /// Makes a channel with one sender.
    pub(super) fn new(capacity: usize) -> Self {
        Self { queue: Queue::new(KeptValues::new(capacity)), no_receivers: RawGate::new() }
    }

    /// Calls `look` with the stored values, under the lock.
    pub(super) fn with<R>(&self, look: impl FnOnce(&mut KeptValues<T>) -> R) -> R {
        look(&mut self.queue.lock())
    }

    /// Sends a value. Returns the number of its receivers.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no receiver.
    pub(super) fn send(&self, value: T) -> Result<usize, SendError<T>> {
        rt::spend(1);
        let (value, mut ring) = (Arc::new(value), KeptRing::new(0));
        let mut queue = self.lock_with_place(&mut ring);
        let receivers = queue.receivers;
        if receivers == 0 {
            drop(queue);
            let value = Arc::into_inner(value).expect("the value was not stored");
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

    /// Locks the stored values, with room in the ring for another value unless the capacity is
    /// reached. `ring` may contain the old ring afterwards, which the caller drops without the
    /// lock.
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

    /// Takes the next value of a receiver, if there is one.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no value, or if the next value is not stored any more.
    pub(super) fn try_receive(&self, next: &mut u64) -> Result<Arc<T>, NoValue> {
        let mut queue = self.queue.lock();
        match queue.find(next) {
            FoundValue::Value(value) => Ok(value),
            FoundValue::Lagged(missed) => Err(NoValue::Lagged(missed)),
            FoundValue::Nothing if queue.senders == 0 => Err(NoValue::Closed),
            FoundValue::Nothing => Err(NoValue::GaveUp(GaveUp::TimedOut)),
        }
    }

    /// Takes the next value of a receiver, and waits until there is one.
    ///
    /// # Errors
    ///
    /// Returns an error if the next value is not stored any more, if there will be no value, or if
    /// the limit is reached.
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

    /// Counts out a sender. The last one wakes all receivers.
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
    /// zero, or waits at the gate when `drop_receiver` opens it. Receivers that subscribe later do
    /// not extend the wait.
    ///
    /// # Errors
    ///
    /// Returns an error if the limit is reached before.
    pub(super) fn wait_for_close(&self, limit: Limit) -> Result<(), GaveUp> {
        rt::spend(1);
        let is_closed = || self.with(|kept| kept.receivers == 0);
        if is_closed() {
            Ok(())
        } else {
            self.no_receivers.wait(WaitKind::Closed, limit, is_closed).into_result()
        }
    }

    /// Removes a receiver whose next value is `next`. If it is the last one, wakes the senders that
    /// wait for that. Drops the values that no other receiver needs, even if some destructors
    /// panic.
    ///
    /// # Panics
    ///
    /// Panics as [`drop_each`] does.
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
