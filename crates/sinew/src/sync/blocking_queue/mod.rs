//! A queue of bounded length that blocks: whoever pushes waits for room, and whoever pops for a value.

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

/// Values that any number push and any number pop, fibers and threads alike, in order, of which there are at most so many at a time.
///
/// Its capacity [may change](Self::set_capacity) while others wait, and it can be
/// [stopped](Self::stop), which ends all waits. It is shared by reference: unlike a channel, it has
/// no ends that close it when they are dropped.
///
/// Those who wait are served in the order in which they came, and nobody overtakes them. A value is pushed when somebody has it, or when there was
/// room for it: one whose time is over, or who is cancelled while it waits, has it back.
///
/// If destructors of values that are left in it panic, all of them are dropped nevertheless, and the
/// first panic goes on.
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

/// The right to what is in it.
type LockedContents<'a, T> = Locked<'a, Contents<T>, QueueWaitSlot<T>>;

/// Why a value was not pushed.
enum NotPushed<T> {
    Stopped(T),
    GaveUp(T, GaveUp),
}

/// Why there is no value.
enum NotPopped {
    Stopped,
    GaveUp(GaveUp),
}

// No code of the user's runs while it is changed.
impl_unwind_safe!(BlockingQueue<T>);

impl<T> BlockingQueue<T> {
    /// An empty one. Memory is taken as it is needed.
    ///
    /// # Panics
    ///
    /// If the capacity is zero.
    #[must_use]
    pub const fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "{}", NO_ROOM);
        Self { queue: Queue::new(Contents { values: VecDeque::new(), capacity, is_stopped: false }) }
    }

    /// Waits for room, and pushes the value.
    ///
    /// # Errors
    ///
    /// If the queue was stopped, before or meanwhile. The value is in the error.
    ///
    /// # Panics
    ///
    /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend). The value is dropped then.
    pub fn push(&self, value: T) -> Result<(), PushError<T>> {
        match self.push_within(value, Limit::NEVER) {
            Ok(()) => Ok(()),
            Err(NotPushed::Stopped(value) | NotPushed::GaveUp(value, _)) => Err(PushError(value)),
        }
    }

    /// Pushes the value, if there is room and nobody waits for it.
    ///
    /// # Errors
    ///
    /// If there is none for the caller, or the queue was stopped. The value is in the error.
    pub fn try_push(&self, value: T) -> Result<(), TryPushError<T>> {
        self.offer(value).map_err(|(value, is_stopped)| match is_stopped {
            true => TryPushError::Stopped(value),
            false => TryPushError::Full(value),
        })
    }

    /// [`push`](Self::push), for at most so long.
    ///
    /// # Errors
    ///
    /// As [`try_push`](Self::try_push), if there is no room in that time.
    pub fn push_timeout(&self, value: T, time: Duration) -> Result<(), TryPushError<T>> {
        Ok(self.push_within(value, Limit::lasting(time))?)
    }

    /// [`push`](Self::push), until this moment at the latest.
    ///
    /// # Errors
    ///
    /// As [`push_timeout`](Self::push_timeout).
    pub fn push_until(&self, value: T, deadline: Instant) -> Result<(), TryPushError<T>> {
        Ok(self.push_within(value, Limit::until(Some(deadline)))?)
    }

    /// [`push`](Self::push), where [cancellation and deadlines](crate::fiber#stopping) count.
    ///
    /// # Errors
    ///
    /// If the caller is to stop before there is room; the value comes with it. Inside, as [`push`](Self::push).
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
    /// If the queue was stopped, and nothing is left in it.
    ///
    /// # Panics
    ///
    /// If the caller would have to wait, and is inside [`no_suspend`](crate::fiber::no_suspend).
    pub fn pop(&self) -> Result<T, PopError> {
        self.pop_within(Limit::NEVER).map_err(|_| PopError)
    }

    /// Pops a value, if there is one.
    ///
    /// # Errors
    ///
    /// If there is none, or will be none, since the queue was stopped.
    pub fn try_pop(&self) -> Result<T, TryPopError> {
        self.take().map_err(|is_stopped| if is_stopped { TryPopError::Stopped } else { TryPopError::Empty })
    }

    /// [`pop`](Self::pop), for at most so long.
    ///
    /// # Errors
    ///
    /// As [`try_pop`](Self::try_pop), if none comes in that time.
    pub fn pop_timeout(&self, time: Duration) -> Result<T, TryPopError> {
        Ok(self.pop_within(Limit::lasting(time))?)
    }

    /// [`pop`](Self::pop), until this moment at the latest.
    ///
    /// # Errors
    ///
    /// As [`pop_timeout`](Self::pop_timeout).
    pub fn pop_until(&self, deadline: Instant) -> Result<T, TryPopError> {
        Ok(self.pop_within(Limit::until(Some(deadline)))?)
    }

    /// [`pop`](Self::pop), where [cancellation and deadlines](crate::fiber#stopping) count.
    ///
    /// # Errors
    ///
    /// If the caller is to stop before there is a value; none was popped then. Inside, as [`pop`](Self::pop).
    #[track_caller]
    pub fn pop_cancellable(&self) -> Result<Result<T, PopError>, Stopped> {
        unless_stopped(match self.pop_within(Limit::STOP) {
            Ok(value) => Ok(Ok(value)),
            Err(NotPopped::Stopped) => Ok(Err(PopError)),
            Err(NotPopped::GaveUp(gave_up)) => Err(gave_up),
        })
    }

    /// Pops values as they come, until the queue is stopped and nothing is left in it.
    pub fn iter(&self) -> BlockingQueueIter<'_, T> {
        BlockingQueueIter { queue: self }
    }

    /// Pops what is there.
    pub fn try_iter(&self) -> BlockingQueueTryIter<'_, T> {
        BlockingQueueTryIter { queue: self }
    }

    /// How many values are in it. Those that somebody waits to push do not count.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.lock().values.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many may be in it.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.queue.lock().capacity
    }

    /// So many may be in it from now on. If they are more, those who wait for room go on; if there are more in it than that, they stay, and
    /// nothing is let in before enough of them are popped.
    ///
    /// # Panics
    ///
    /// If it is zero.
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

    /// Lets no more values in. Those who wait to push one have it back; what is in it may be popped, and those who wait for more go on
    /// without.
    pub fn stop(&self) {
        self.queue.lock().is_stopped = true;
        self.queue.wake_all(|_| ());
    }

    /// Whether it was stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.queue.lock().is_stopped
    }

    /// The lock, with a place in the ring for one more, if there may be one more. What the ring was before is left to the caller, who drops it
    /// without the lock.
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
    /// If there is no room, or it was stopped, which is the flag.
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
                // Nobody takes it but who has won the wait.
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
    /// If there is nothing; and nothing will come, if the flag is set.
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

const NO_ROOM: &str = "a blocking queue has room for one value at least";

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
