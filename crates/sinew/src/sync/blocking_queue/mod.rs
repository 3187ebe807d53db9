//! A bounded queue: `push` waits for room, and `pop` waits for a value.

mod contents;
mod error;
mod iter;

pub use error::{PopError, PushError, TryPopError, TryPushError};
pub use iter::{BlockingQueueIter, BlockingQueueTryIter};

use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant};

use self::contents::{Contents, Offered, QueueWaitSlot};
use crate::fiber::Stopped;
use crate::limited::unless_stopped;
use crate::rt::{
    self, Claimed, GaveUp, Limit, Locked, Outcome, Place, Queue, WaitKind, Wakes, impl_unwind_safe,
};

/// A bounded first-in, first-out queue, for any number of fibers and threads that push and pop.
///
/// Its capacity [may change](Self::set_capacity) while callers wait. [`stop`](Self::stop) ends all
/// waits. Unlike a channel, it has no ends whose drop closes it: callers share a reference.
///
/// Waiters are served in the order in which they came; newcomers do not overtake them. A caller
/// that times out or is cancelled while it waits to push gets its value back.
///
/// If destructors of values that are left in it panic, all values are dropped nevertheless, and the
/// first panic continues.
///
/// ```
/// use sinew::fiber;
/// use sinew::sync::BlockingQueue;
///
/// static QUEUE: BlockingQueue<u32> = BlockingQueue::new(2);
///
/// let adder = fiber::spawn(|| QUEUE.iter().sum::<u32>());
/// (1..=10).for_each(|value| QUEUE.push(value).unwrap());
/// QUEUE.stop();
/// assert_eq!(adder.join().unwrap(), 55);
/// assert_eq!(QUEUE.push(11).unwrap_err().0, 11);
/// ```
pub struct BlockingQueue<T> {
    queue: Queue<Contents<T>, QueueWaitSlot<T>>,
}

/// The contents of the queue, under its lock.
type LockedContents<'a, T> = Locked<'a, Contents<T>, QueueWaitSlot<T>>;

/// Why a value was not pushed.
enum NotPushed<T> {
    Stopped(T),
    GaveUp(T, GaveUp),
}

/// Why no value was popped.
enum NotPopped {
    Stopped,
    GaveUp(GaveUp),
}

// No user code runs while it is changed, so a panic cannot leave it half changed.
impl_unwind_safe!(BlockingQueue<T>);

impl<T> BlockingQueue<T> {
    /// Creates an empty queue. Memory is allocated as it is needed.
    ///
    /// # Panics
    ///
    /// Panics if `capacity` is zero.
    #[must_use]
    pub const fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "{}", NO_ROOM);
        Self { queue: Queue::new(Contents { values: VecDeque::new(), capacity, is_stopped: false }) }
    }

    /// Waits for room, and pushes the value.
    ///
    /// # Errors
    ///
    /// Returns the value as an error if the queue was stopped, before the call or during the wait.
    ///
    /// # Panics
    ///
    /// Panics if the caller would have to wait and is inside
    /// [`no_suspend`](crate::fiber::no_suspend). The value is dropped then.
    pub fn push(&self, value: T) -> Result<(), PushError<T>> {
        match self.push_within(value, Limit::NEVER) {
            Ok(()) => Ok(()),
            Err(NotPushed::Stopped(value) | NotPushed::GaveUp(value, _)) => Err(PushError(value)),
        }
    }

    /// Pushes the value if there is room and no caller waits for it. Never waits.
    ///
    /// # Errors
    ///
    /// Returns an error with the value if there is no room for the caller, or the queue was
    /// stopped.
    pub fn try_push(&self, value: T) -> Result<(), TryPushError<T>> {
        self.offer(value).map_err(|(value, is_stopped)| match is_stopped {
            true => TryPushError::Stopped(value),
            false => TryPushError::Full(value),
        })
    }

    /// Pushes as [`push`](Self::push) does, but waits at most for `time`.
    ///
    /// # Errors
    ///
    /// Fails as [`try_push`](Self::try_push) does, if there is no room in that time.
    pub fn push_timeout(&self, value: T, time: Duration) -> Result<(), TryPushError<T>> {
        Ok(self.push_within(value, Limit::lasting(time))?)
    }

    /// Pushes as [`push`](Self::push) does, but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// Fails as [`push_timeout`](Self::push_timeout) does.
    pub fn push_until(&self, value: T, deadline: Instant) -> Result<(), TryPushError<T>> {
        Ok(self.push_within(value, Limit::until(Some(deadline)))?)
    }

    /// Waits to push until [cancellation or a deadline](crate::fiber#stopping) ends the wait.
    ///
    /// # Errors
    ///
    /// Returns an error with the value if the caller is stopped before there is room. The inner
    /// result is that of [`push`](Self::push).
    #[track_caller]
    pub fn push_cancellable(&self, value: T) -> Result<Result<(), PushError<T>>, (T, Stopped)> {
        match self.push_within(value, Limit::STOP) {
            Ok(()) => Ok(Ok(())),
            Err(NotPushed::Stopped(value)) => Ok(Err(PushError(value))),
            Err(NotPushed::GaveUp(value, gave_up)) => {
                unless_stopped(Err(gave_up)).map_err(|stopped| (value, stopped))
            }
        }
    }

    /// Waits for a value, and pops it.
    ///
    /// # Errors
    ///
    /// Returns an error if the queue was stopped and is empty.
    ///
    /// # Panics
    ///
    /// Panics if the caller would have to wait and is inside
    /// [`no_suspend`](crate::fiber::no_suspend).
    pub fn pop(&self) -> Result<T, PopError> {
        self.pop_within(Limit::NEVER).map_err(|_| PopError)
    }

    /// Pops a value if there is one. Never waits.
    ///
    /// # Errors
    ///
    /// Returns an error if the queue is empty. The error says whether the queue was stopped.
    pub fn try_pop(&self) -> Result<T, TryPopError> {
        self.take().map_err(|is_stopped| if is_stopped { TryPopError::Stopped } else { TryPopError::Empty })
    }

    /// Pops as [`pop`](Self::pop) does, but waits at most for `time`.
    ///
    /// # Errors
    ///
    /// Fails as [`try_pop`](Self::try_pop) does, if no value comes in that time.
    pub fn pop_timeout(&self, time: Duration) -> Result<T, TryPopError> {
        Ok(self.pop_within(Limit::lasting(time))?)
    }

    /// Pops as [`pop`](Self::pop) does, but waits until `deadline` at the latest.
    ///
    /// # Errors
    ///
    /// Fails as [`pop_timeout`](Self::pop_timeout) does.
    pub fn pop_until(&self, deadline: Instant) -> Result<T, TryPopError> {
        Ok(self.pop_within(Limit::until(Some(deadline)))?)
    }

    /// Waits to pop until [cancellation or a deadline](crate::fiber#stopping) ends the wait.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller is stopped before there is a value. The inner result is that
    /// of [`pop`](Self::pop).
    #[track_caller]
    pub fn pop_cancellable(&self) -> Result<Result<T, PopError>, Stopped> {
        unless_stopped(match self.pop_within(Limit::STOP) {
            Ok(value) => Ok(Ok(value)),
            Err(NotPopped::Stopped) => Ok(Err(PopError)),
            Err(NotPopped::GaveUp(gave_up)) => Err(gave_up),
        })
    }

    /// Returns an iterator that pops values, and ends when the queue is stopped and empty.
    pub fn iter(&self) -> BlockingQueueIter<'_, T> {
        BlockingQueueIter { queue: self }
    }

    /// Returns an iterator that pops the values in the queue. It never waits.
    pub fn try_iter(&self) -> BlockingQueueTryIter<'_, T> {
        BlockingQueueTryIter { queue: self }
    }

    /// Returns the number of values in the queue, without those of callers that wait to push.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.lock().values.len()
    }

    /// Returns whether the queue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many values the queue can hold.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.queue.lock().capacity
    }

    /// Sets how many values the queue can hold. If there is more room, waiting callers push. If the
    /// queue holds more values, they stay, and pushes wait until enough of them are popped.
    ///
    /// # Panics
    ///
    /// Panics if `capacity` is zero.
    pub fn set_capacity(&self, capacity: usize) {
        assert!(capacity > 0, "{}", NO_ROOM);
        self.queue.lock().capacity = capacity;
        loop {
            let (mut ring, mut wakes) = (VecDeque::new(), Wakes::new());
            let mut queue = self.lock_with_place(&mut ring);
            while !wakes.is_full()
                && let Some(claimed) = queue.admit()
            {
                wakes.add(claimed);
            }
            let is_settled = queue.is_settled();
            drop(queue);
            wakes.go();
            if is_settled {
                return;
            }
        }
    }

    /// Stops the queue: callers that push get their values back, waiting ones too. The values in
    /// the queue can still be popped; after that, `pop` returns an error.
    pub fn stop(&self) {
        self.queue.lock().is_stopped = true;
        self.queue.wake_all(|_| ());
    }

    /// Returns whether the queue was stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.queue.lock().is_stopped
    }

    /// Locks the queue, with room in the ring for another value if the capacity allows it. The
    /// caller drops the old ring, in `ring`, without the lock.
    fn lock_with_place(&self, ring: &mut VecDeque<T>) -> LockedContents<'_, T> {
        loop {
            let mut queue = self.queue.lock();
            match queue.wants_ring() {
                Some(size) if size > ring.capacity() => {
                    drop(queue);
                    *ring = VecDeque::with_capacity(size);
                }
                Some(_) => {
                    queue.move_into(ring);
                    return queue;
                }
                None => return queue,
            }
        }
    }

    /// # Errors
    ///
    /// Returns the value if there is no room or the queue was stopped, as the flag says.
    fn offer(&self, value: T) -> Result<(), (T, bool)> {
        let mut ring = VecDeque::new();
        let mut queue = self.lock_with_place(&mut ring);
        let (offered, is_stopped) = (queue.offer(value), queue.is_stopped);
        drop(queue);
        match offered {
            Offered::Accepted(claimed) => {
                claimed.into_iter().for_each(Claimed::go);
                Ok(())
            }
            Offered::Refused(value) => Err((value, is_stopped)),
        }
    }

    fn push_within(&self, mut value: T, mut limit: Limit) -> Result<(), NotPushed<T>> {
        rt::spend(1);
        loop {
            value = match self.offer(value) {
                Ok(()) => return Ok(()),
                Err((value, true)) => return Err(NotPushed::Stopped(value)),
                Err((value, false)) => value,
            };
            let place = |queue: &mut LockedContents<'_, T>, _: &QueueWaitSlot<T>| {
                (!queue.is_open()).then_some(Place::Back)
            };
            let (outcome, wait_slot) = self.queue.wait(
                WaitKind::QueuePush,
                QueueWaitSlot::bringing(value),
                limit.next_wait(),
                place,
            );
            value = match (outcome, wait_slot.into_value()) {
                // Only a popper that has ended this wait takes the value.
                (_, None) => return Ok(()),
                (Outcome::NotNeeded, Some(value)) => value,
                (Outcome::Woken, Some(value)) => return Err(NotPushed::Stopped(value)),
                (Outcome::TimedOut, Some(value)) => return Err(NotPushed::GaveUp(value, GaveUp::TimedOut)),
                (Outcome::Stopped(stop), Some(value)) => {
                    return Err(NotPushed::GaveUp(value, GaveUp::Stopped(stop)));
                }
            };
        }
    }

    /// # Errors
    ///
    /// Fails if the queue is empty. The flag says whether it was stopped.
    fn take(&self) -> Result<T, bool> {
        let mut queue = self.queue.lock();
        let (taken, is_stopped) = (queue.take(), queue.is_stopped);
        drop(queue);
        let (value, claimed) = taken.ok_or(is_stopped)?;
        claimed.into_iter().for_each(Claimed::go);
        Ok(value)
    }

    fn pop_within(&self, mut limit: Limit) -> Result<T, NotPopped> {
        rt::spend(1);
        loop {
            match self.take() {
                Ok(value) => return Ok(value),
                Err(true) => return Err(NotPopped::Stopped),
                Err(false) => {}
            }
            let place = |queue: &mut LockedContents<'_, T>, _: &QueueWaitSlot<T>| {
                (!queue.is_filled()).then_some(Place::Back)
            };
            let (outcome, wait_slot) =
                self.queue.wait(WaitKind::QueuePop, QueueWaitSlot::taking(), limit.next_wait(), place);
            match (outcome, wait_slot.into_value()) {
                (_, Some(value)) => return Ok(value),
                (Outcome::NotNeeded, None) => {}
                (Outcome::Woken, None) => return Err(NotPopped::Stopped),
                (outcome, None) => outcome.into_result().map_err(NotPopped::GaveUp)?,
            }
        }
    }
}

const NO_ROOM: &str = "a `BlockingQueue` needs room for one value: its capacity must be at least 1";

impl<T> From<NotPushed<T>> for TryPushError<T> {
    fn from(refusal: NotPushed<T>) -> Self {
        match refusal {
            NotPushed::Stopped(value) => Self::Stopped(value),
            NotPushed::GaveUp(value, _) => Self::Full(value),
        }
    }
}

impl From<NotPopped> for TryPopError {
    fn from(lack: NotPopped) -> Self {
        match lack {
            NotPopped::Stopped => Self::Stopped,
            NotPopped::GaveUp(_) => Self::Empty,
        }
    }
}

impl<T> fmt::Debug for BlockingQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, capacity, is_stopped) = {
            let queue = self.queue.lock();
            (queue.values.len(), queue.capacity, queue.is_stopped)
        };
        let mut out = f.debug_struct("BlockingQueue");
        out.field("len", &len).field("capacity", &capacity).field("is_stopped", &is_stopped);
        out.finish_non_exhaustive()
    }
}
