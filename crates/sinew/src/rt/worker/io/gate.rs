//! Where those wait who want something of a descriptor, each direction for itself, and how an event reaches them. Knows neither the descriptor nor what
//! is done with it. How it works is in the README beside this file.

use super::readiness::{Direction, Readiness, ReadyEvent, Seen};
use crate::rt::wait::{Claimed, FastWait, Limit, Outcome, Place, Queue, WaitKind, pick};

/// What an operation has left for the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It may succeed too.
    Perhaps,
    /// Nothing, until an event says otherwise.
    Nothing,
}

/// How often somebody has waited in the same call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    First,
    /// It was woken, and another one was faster: it does not go to the back for that.
    Again,
}

impl Turn {
    #[inline]
    fn place(self) -> Place {
        match self {
            Self::First => Place::Back,
            Self::Again => Place::Front,
        }
    }
}

/// The word, and those who wait. Those who read come first: it is they who wait most.
#[repr(C)]
pub(crate) struct Gate {
    readiness: Readiness,
    readers: Queue<(), ()>,
    writers: Queue<(), ()>,
}

/// Why one waits for a direction.
#[inline]
pub(super) fn kind(direction: Direction) -> WaitKind {
    match direction {
        Direction::Read => WaitKind::Readable,
        Direction::Write => WaitKind::Writable,
    }
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self::of(Readiness::new())
    }

    /// The same for operations that may want different things.
    pub(crate) fn mixed() -> Self {
        Self::of(Readiness::mixed())
    }

    fn of(readiness: Readiness) -> Self {
        Self { readiness, readers: Queue::new(()), writers: Queue::new(()) }
    }

    #[inline]
    pub(crate) fn look(&self) -> Seen {
        self.readiness.look()
    }

    #[inline]
    fn queue(&self, direction: Direction) -> &Queue<(), ()> {
        match direction {
            Direction::Read => &self.readers,
            Direction::Write => &self.writers,
        }
    }

    /// Whether nobody seems to wait.
    pub(crate) fn is_quiet(&self) -> bool {
        self.readers.seems_empty() && self.writers.seems_empty()
    }

    /// The kernel says that there is nothing left, as of an operation that began when the word was as `seen`.
    #[inline]
    pub(crate) fn unmark(&self, direction: Direction, seen: Seen) {
        self.readiness.unmark(direction, seen);
    }

    /// Waits until the direction may be ready, or was closed; not at all, if there was an event since the word was as `seen`.
    pub(crate) fn wait(&self, direction: Direction, limit: Limit, (turn, seen): (Turn, Seen)) -> Outcome {
        let queue = self.queue(direction);
        let enter = || self.readiness.await_it(direction, seen).then_some(turn.place());
        queue.wait(kind(direction), (), limit, |_, ()| enter()).0
    }

    /// The same for ever, the short way.
    #[inline]
    pub(crate) fn wait_fast(&self, direction: Direction, (turn, seen): (Turn, Seen)) -> FastWait {
        let queue = self.queue(direction);
        queue.wait_fast(kind(direction), (), |_| {
            self.readiness.await_it(direction, seen).then_some(turn.place())
        })
    }

    /// An event has come: one of those who wait for each direction goes on, or all, if they may want different things. Returns how many, or one for all.
    #[inline]
    pub(crate) fn tell(&self, event: ReadyEvent) -> usize {
        let before = self.readiness.tell(event);
        if before.is_mixed() {
            return self.tell_each(before, event);
        }
        let now = self.look();
        let awaited = Direction::BOTH.into_iter().filter(|&it| before.is_awaited(it) && now.is_ready(it));
        awaited.map(|direction| self.wake_one(direction)).sum()
    }

    /// Whatever others have found since, it is new to those who wait.
    #[cold]
    fn tell_each(&self, before: Seen, event: ReadyEvent) -> usize {
        let awaited = Direction::BOTH.into_iter().filter(|&it| before.is_awaited(it) && event.is_of(it));
        let wake = |direction| {
            let is_awaited = !self.queue(direction).seems_empty();
            self.queue(direction).wake_all(|()| ());
            usize::from(is_awaited)
        };
        awaited.map(wake).sum()
    }

    /// An operation is over, and has not found the end of what there is: the next who waits has its turn.
    #[inline]
    pub(crate) fn pass_on(&self, direction: Direction) {
        let seen = self.look();
        // Whoever waits has found it not ready, and so before the event that the caller goes by: it is not overlooked.
        if seen.is_awaited(direction) && seen.is_ready(direction) && !self.queue(direction).seems_empty() {
            self.wake_one(direction);
        }
    }

    /// One that can go on here, if one of the first few can: the first of all may have to go on where another one computes for long.
    fn wake_one(&self, direction: Direction) -> usize {
        let mut locked = self.queue(direction).lock();
        let claimed = locked.claim(pick::Near, |()| (), |()| ());
        drop(locked);
        claimed.map(Claimed::go).map_or(0, |()| 1)
    }

    /// All operations fail from now on, and those who wait go on to find that.
    pub(crate) fn close(&self) {
        self.readiness.close();
        self.wake_all();
    }

    /// Those who are about to wait ask once more first.
    pub(crate) fn ask_again(&self) {
        self.readiness.tell(ReadyEvent::default());
    }

    /// Nobody tells of events any more: all who wait try again.
    pub(crate) fn disturb(&self) {
        self.readiness.tell(ReadyEvent::new(true, true, false));
        self.wake_all();
    }

    fn wake_all(&self) {
        self.readers.wake_all(|()| ());
        self.writers.wake_all(|()| ());
    }
}
