//! The readiness of a descriptor: in which directions it may be ready, who waits for them, and
//! whether it was closed. Knows neither the descriptor nor the operations on it. The README beside
//! this file explains how it works.
//!
//! Readiness is a guess that errs on one side only: if a direction is not marked as ready, an event
//! will come when it is. Events count *ticks*. An operation loads the word before it tries, and
//! unmarks the direction afterwards if the kernel had nothing left, unless a tick came in between:
//! the bytes of that event may have come after the kernel was called.
//!
//! An operation that has tried in vain waits only if no tick came since it loaded the word: another
//! operation may have unmarked what the event marked.
//!
//! The same word records which directions have waiters, so that an event and the first waiter
//! cannot miss each other: each changes the word, and the second change sees the first. That mark
//! stays. From then on each event of the direction takes the lock of its queue, under which waiters
//! load the word.

use crate::rt::base::sync::{AtomicU64, Ordering};
use crate::rt::wait::{Cause, Claimed, Limit, Outcome, Place, Queue, RunningFiber, WaitKind, pick};

/// The direction of an operation on a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

impl Direction {
    pub(crate) const BOTH: [Self; 2] = [Self::Read, Self::Write];

    const fn shift(self) -> u32 {
        match self {
            Self::Read => 0,
            Self::Write => 1,
        }
    }

    /// The bit of a direction that may be ready.
    const fn ready(self) -> u64 {
        1 << self.shift()
    }

    /// The bit of a direction that has or had a waiter. It stays set.
    const fn awaited(self) -> u64 {
        1 << (2 + self.shift())
    }

    /// Returns the kind of a wait for this direction.
    #[inline]
    pub(super) fn wait_kind(self) -> WaitKind {
        match self {
            Self::Read => WaitKind::Readable,
            Self::Write => WaitKind::Writable,
        }
    }
}

/// A read of fewer bytes than there was room for does not prove that none are left.
const DISTRUST: u64 = 1 << 4;
/// All operations fail from now on.
const CLOSED: u64 = 1 << 5;
/// What one operation finds says nothing about the next: each may want something else.
const MIXED: u64 = 1 << 6;
/// Events are counted from this bit upwards.
const TICK: u64 = 1 << 8;

/// The word at one moment, or the bits that an event adds to it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadyBits(u64);

impl ReadyBits {
    /// Returns the bits of an event. `distrust` means that short reads prove nothing from then on.
    #[inline]
    pub(crate) fn event(read: bool, write: bool, distrust: bool) -> Self {
        let (ready, distrust) = (u64::from(read) | u64::from(write) << 1, u64::from(distrust));
        Self(ready | distrust << DISTRUST.trailing_zeros())
    }

    #[inline]
    pub(crate) fn is_ready(self, direction: Direction) -> bool {
        self.0 & direction.ready() != 0
    }

    /// Returns whether the direction may have waiters, since it has had some.
    #[inline]
    fn is_awaited(self, direction: Direction) -> bool {
        self.0 & direction.awaited() != 0
    }

    /// Returns whether a short read has read all bytes.
    #[inline]
    pub(crate) fn trusts_short_reads(self) -> bool {
        self.0 & DISTRUST == 0
    }

    /// Returns whether operations may want different things, so that one that has to wait says
    /// nothing about the others.
    #[inline]
    pub(crate) fn is_mixed(self) -> bool {
        self.0 & MIXED != 0
    }

    /// Returns whether no event has come between the two.
    #[inline]
    fn is_as_of(self, other: Self) -> bool {
        self.0 / TICK == other.0 / TICK
    }

    #[inline]
    pub(crate) fn is_closed(self) -> bool {
        self.0 & CLOSED != 0
    }
}

/// The word, and the waiters of each direction. Readers come first: they wait most.
#[repr(C)]
pub(crate) struct Readiness {
    word: AtomicU64,
    readers: Queue<(), ()>,
    writers: Queue<(), ()>,
}

impl Readiness {
    /// Returns a readiness with both directions marked: no operation has tried yet.
    pub(crate) fn new() -> Self {
        Self::of(0)
    }

    /// Returns the readiness of a descriptor whose operations may want different things.
    pub(crate) fn mixed() -> Self {
        Self::of(MIXED)
    }

    fn of(more: u64) -> Self {
        let word = AtomicU64::new(Direction::Read.ready() | Direction::Write.ready() | more);
        Self { word, readers: Queue::new(()), writers: Queue::new(()) }
    }

    #[inline]
    pub(crate) fn look(&self) -> ReadyBits {
        // Acquire: pairs with the release of `mark`. An operation that sees the mark finds the
        // kernel's state as of then.
        ReadyBits(self.word.load(Ordering::Acquire))
    }

    #[inline]
    fn queue(&self, direction: Direction) -> &Queue<(), ()> {
        match direction {
            Direction::Read => &self.readers,
            Direction::Write => &self.writers,
        }
    }

    /// Returns whether no fiber seems to wait.
    pub(crate) fn is_quiet(&self) -> bool {
        self.readers.seems_empty() && self.writers.seems_empty()
    }

    /// Records that the kernel had nothing left in a direction, as of an operation that began when
    /// the word was `seen`.
    #[inline]
    pub(crate) fn unmark(&self, direction: Direction, seen: ReadyBits) {
        self.change(|word| ReadyBits(word).is_as_of(seen).then_some(word & !direction.ready()));
    }

    /// Counts an event, and marks its directions. Returns the previous word: those that waited by
    /// then are to be woken.
    #[inline]
    fn mark(&self, event: ReadyBits) -> ReadyBits {
        self.change(|word| Some(word.wrapping_add(TICK) | event.0))
    }

    #[inline]
    fn change(&self, change: impl FnMut(u64) -> Option<u64>) -> ReadyBits {
        // Acquire and release: as in `must_wait`.
        let (Ok(before) | Err(before)) = self.word.fetch_update(Ordering::AcqRel, Ordering::Relaxed, change);
        ReadyBits(before)
    }

    /// Returns whether an operation has to wait that loaded the word as `seen`, and has tried in
    /// vain since, or knew that it would. Called under the lock of the direction's queue.
    #[inline]
    fn must_wait(&self, direction: Direction, seen: ReadyBits) -> bool {
        let mut now = self.look();
        if !now.is_awaited(direction) {
            // Acquire and release: of this and `mark`, the second sees the first, and all that was
            // done before it.
            now = ReadyBits(self.word.fetch_or(direction.awaited(), Ordering::AcqRel));
        }
        // If there was an event, it may be what the caller waits for, even if other
        // operations have changed bits since.
        now.is_as_of(seen) && !now.is_ready(direction) && !now.is_closed()
    }

    /// Waits until the direction may be ready, or was closed. Does not wait if an event has come
    /// since the word was `seen`. A wait that continues an operation goes to the front: another
    /// operation was faster, which costs it no turn.
    pub(crate) fn wait(&self, direction: Direction, limit: Limit, seen: ReadyBits) -> Outcome {
        let enter = || self.must_wait(direction, seen).then_some(limit.place());
        self.queue(direction).wait(direction.wait_kind(), (), limit, |_, ()| enter()).0
    }

    /// [Waits](Self::wait) without a time limit, by [`Queue::wait_fast`].
    #[inline]
    pub(super) fn wait_fast(
        &self,
        fiber: RunningFiber,
        direction: Direction,
        (place, seen): (Place, ReadyBits),
    ) -> Option<Cause> {
        self.queue(direction)
            .wait_fast(fiber, direction.wait_kind(), (), |_| self.must_wait(direction, seen).then_some(place))
    }

    /// Records an event. Wakes one waiter of each direction, or all waiters, if they may want
    /// different things. Returns how many, or one for all of a direction.
    #[inline]
    pub(crate) fn tell(&self, event: ReadyBits) -> usize {
        let before = self.mark(event);
        if before.is_mixed() {
            return self.tell_each(before, event);
        }
        let now = ReadyBits(before.0 | event.0);
        let awaited = Direction::BOTH.into_iter().filter(|&it| before.is_awaited(it) && now.is_ready(it));
        awaited.map(|direction| self.wake_one(direction)).sum()
    }

    /// Wakes all waiters of the event's directions. The event is new to them, even if other
    /// operations have tried since.
    #[cold]
    fn tell_each(&self, before: ReadyBits, event: ReadyBits) -> usize {
        let awaited = Direction::BOTH.into_iter().filter(|&it| before.is_awaited(it) && event.is_ready(it));
        let wake = |direction| {
            let is_awaited = !self.queue(direction).seems_empty();
            self.queue(direction).wake_all(|()| ());
            usize::from(is_awaited)
        };
        awaited.map(wake).sum()
    }

    /// Wakes the next waiter, after an operation that has not found the end of what is available.
    #[inline]
    pub(crate) fn pass_on(&self, direction: Direction) {
        let seen = self.look();
        // A waiter has found the direction not ready, and so before the event that the caller
        // relies on. So it is not overlooked here.
        if seen.is_awaited(direction) && seen.is_ready(direction) && !self.queue(direction).seems_empty() {
            self.wake_one(direction);
        }
    }

    /// Wakes a waiter that can continue here, if one of the first few can. The very first may have
    /// to continue on a worker that computes for long.
    fn wake_one(&self, direction: Direction) -> usize {
        let mut locked = self.queue(direction).lock();
        let claimed = locked.claim(pick::Near, |()| (), |()| ());
        drop(locked);
        claimed.map(Claimed::go).map_or(0, |()| 1)
    }

    /// Makes all operations fail from now on, and wakes all waiters.
    pub(crate) fn close(&self) {
        // Release: pairs with the acquire of `must_wait` and `look`.
        self.word.fetch_or(CLOSED, Ordering::AcqRel);
        self.wake_all();
    }

    /// Makes operations that are about to wait try once more first.
    pub(super) fn ask_again(&self) {
        self.mark(ReadyBits::default());
    }

    /// Records that a short read does not prove that no more bytes are available.
    pub(crate) fn distrust_short_reads(&self) {
        self.mark(ReadyBits::event(false, false, true));
    }

    /// Makes all waiters try again, since no driver reports events any more.
    pub(super) fn disturb(&self) {
        self.mark(ReadyBits::event(true, true, false));
        self.wake_all();
    }

    fn wake_all(&self) {
        self.readers.wake_all(|()| ());
        self.writers.wake_all(|()| ());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn read() -> ReadyBits {
        ReadyBits::event(true, false, false)
    }

    /// An event between loading and unmarking the word stays.
    #[test]
    fn an_event_during_an_operation_is_not_forgotten() {
        let readiness = Readiness::new();
        let seen = readiness.look();
        readiness.mark(read());
        readiness.unmark(Direction::Read, seen);
        assert!(readiness.look().is_ready(Direction::Read));
        readiness.unmark(Direction::Read, readiness.look());
        assert!(!readiness.look().is_ready(Direction::Read));
        assert!(readiness.look().is_ready(Direction::Write));
    }

    #[test]
    fn a_waiter_is_seen_by_the_next_event() {
        let readiness = Readiness::new();
        assert!(!readiness.must_wait(Direction::Read, readiness.look()), "it may be ready");
        readiness.unmark(Direction::Read, readiness.look());
        assert!(readiness.must_wait(Direction::Read, readiness.look()));
        assert!(readiness.mark(read()).is_awaited(Direction::Read));
        assert!(!readiness.mark(read()).is_awaited(Direction::Write));
    }

    #[test]
    fn no_operation_waits_on_a_closed_descriptor() {
        let readiness = Readiness::new();
        readiness.unmark(Direction::Write, readiness.look());
        readiness.close();
        assert!(!readiness.must_wait(Direction::Write, readiness.look()));
        assert!(readiness.look().is_closed());
    }

    /// Another operation has tried in vain meanwhile: it may have wanted something else, or tried
    /// at another home.
    #[test]
    fn no_operation_waits_after_an_event_that_it_has_not_seen() {
        let readiness = Readiness::mixed();
        let seen = readiness.look();
        readiness.unmark(Direction::Read, seen);
        readiness.mark(read());
        readiness.unmark(Direction::Read, readiness.look());
        assert!(!readiness.must_wait(Direction::Read, seen));
        assert!(readiness.must_wait(Direction::Read, readiness.look()));
        assert!(readiness.look().is_mixed() && !Readiness::new().look().is_mixed());
    }

    /// Distrust stays for good.
    #[test]
    fn short_reads_are_not_trusted_once_the_peer_has_said_more() {
        let readiness = Readiness::new();
        assert!(readiness.look().trusts_short_reads());
        readiness.mark(ReadyBits::event(true, false, true));
        readiness.mark(read());
        assert!(!readiness.look().trusts_short_reads());
    }
}
