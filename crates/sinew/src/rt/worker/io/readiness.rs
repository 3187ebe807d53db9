//! What is known of a descriptor: for which directions it may be ready, who waits, whether it was closed. One word. Knows neither the descriptor
//! nor those who wait.
//!
//! Readiness is a guess that errs on one side only: if a direction is not marked as ready, an event will come when it is. Events count *ticks*.
//! Whoever tries an operation looks at the word first, and unmarks the direction afterwards, if the kernel said that there is nothing left, unless there
//! was a tick in between: what that told of may have come after the kernel was asked.
//!
//! Whoever has tried in vain waits only if there was no tick since it looked: another one may have unmarked what the tick told of.
//!
//! That somebody waits is in the same word, so that whoever marks a direction and whoever is the first to wait for it cannot miss one another: each changes
//! the word, and the second of them sees what the first has done. It stays there, and from then on whoever marks the direction passes the lock of those who
//! wait: under it, those who wait look at the word.

use crate::rt::base::sync::{AtomicU64, Ordering};

/// What is done with a descriptor.
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

    /// It may be ready.
    const fn ready(self) -> u64 {
        1 << self.shift()
    }

    /// Somebody waits for it, or has: once set, it stays.
    const fn awaited(self) -> u64 {
        1 << (2 + self.shift())
    }
}

/// That fewer bytes were read than there was room for does not say that no more are there.
const DOUBT: u64 = 1 << 4;
/// All operations fail from now on.
const CLOSED: u64 = 1 << 5;
/// What one operation finds says nothing about the next: each may want something else.
const MIXED: u64 = 1 << 6;
/// Events are counted from here on up.
const TICK: u64 = 1 << 8;

/// What an event tells.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReadyEvent(u64);

impl ReadyEvent {
    pub(crate) fn new(read: bool, write: bool, doubt: bool) -> Self {
        let bit = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
        Self(bit(read, Direction::Read.ready()) | bit(write, Direction::Write.ready()) | bit(doubt, DOUBT))
    }

    /// Whether it says that this direction may be ready.
    pub(crate) fn is_of(self, direction: Direction) -> bool {
        self.0 & direction.ready() != 0
    }
}

/// The word at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen(u64);

impl Seen {
    #[inline]
    pub(crate) fn is_ready(self, direction: Direction) -> bool {
        self.0 & direction.ready() != 0
    }

    /// Whether somebody may wait for it, since somebody has.
    #[inline]
    pub(crate) fn is_awaited(self, direction: Direction) -> bool {
        self.0 & direction.awaited() != 0
    }

    /// Whether a read that came back short has read all there was.
    #[inline]
    pub(crate) fn trusts_short_reads(self) -> bool {
        self.0 & DOUBT == 0
    }

    /// Whether operations may want different things: that one has to wait says nothing about the others.
    #[inline]
    pub(crate) fn is_mixed(self) -> bool {
        self.0 & MIXED != 0
    }

    /// Whether no event has come between the two.
    #[inline]
    fn is_as_of(self, other: Self) -> bool {
        self.0 / TICK == other.0 / TICK
    }

    #[inline]
    pub(crate) fn is_closed(self) -> bool {
        self.0 & CLOSED != 0
    }
}

/// The word.
#[derive(Debug)]
pub(crate) struct Readiness(AtomicU64);

impl Readiness {
    /// Both directions may be ready: nobody has asked.
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(Direction::Read.ready() | Direction::Write.ready()))
    }

    /// The same for a descriptor whose operations may want different things.
    pub(crate) fn mixed() -> Self {
        Self(AtomicU64::new(Direction::Read.ready() | Direction::Write.ready() | MIXED))
    }

    #[inline]
    pub(crate) fn look(&self) -> Seen {
        // Acquire: pairs with the release of `tell`, so that whoever sees the mark sees what the kernel has as of then.
        Seen(self.0.load(Ordering::Acquire))
    }

    /// An event has come. Returns the word as it was: whoever waited by then is to be woken.
    #[inline]
    pub(crate) fn tell(&self, event: ReadyEvent) -> Seen {
        self.change(|word| Some(word.wrapping_add(TICK) | event.0))
    }

    /// The kernel says that there is nothing left in a direction, as of an operation that began when the word was as `seen`.
    #[inline]
    pub(crate) fn unmark(&self, direction: Direction, seen: Seen) {
        self.change(|word| Seen(word).is_as_of(seen).then_some(word & !direction.ready()));
    }

    /// Somebody is about to wait, under the lock of those who wait for this direction, which looked when the word was as `seen`, and tried in vain since, or
    /// knew that it would. Whether it has to.
    #[inline]
    pub(crate) fn await_it(&self, direction: Direction, seen: Seen) -> bool {
        let mut now = self.look();
        if !now.is_awaited(direction) {
            // Acquire and release: of this and `tell`, the second sees the first, and all that was done before it.
            now = Seen(self.0.fetch_or(direction.awaited(), Ordering::AcqRel));
        }
        // If there was an event, it may be what the caller waits for, whatever others have made of it.
        now.is_as_of(seen) && !now.is_ready(direction) && !now.is_closed()
    }

    /// All operations fail from now on.
    pub(crate) fn close(&self) {
        // Release: pairs with the acquire of `await_it` and `look`.
        self.0.fetch_or(CLOSED, Ordering::AcqRel);
    }

    #[inline]
    fn change(&self, change: impl Fn(u64) -> Option<u64>) -> Seen {
        let mut word = self.0.load(Ordering::Relaxed);
        while let Some(new) = change(word) {
            // Acquire and release: as in `await_it`.
            match self.0.compare_exchange_weak(word, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        Seen(word)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn read() -> ReadyEvent {
        ReadyEvent::new(true, false, false)
    }

    /// What came between the look and the unmarking stays.
    #[test]
    fn an_event_during_an_operation_is_not_forgotten() {
        let readiness = Readiness::new();
        let seen = readiness.look();
        readiness.tell(read());
        readiness.unmark(Direction::Read, seen);
        assert!(readiness.look().is_ready(Direction::Read));
        readiness.unmark(Direction::Read, readiness.look());
        assert!(!readiness.look().is_ready(Direction::Read));
        assert!(readiness.look().is_ready(Direction::Write));
    }

    #[test]
    fn whoever_waits_is_seen_by_the_next_event() {
        let readiness = Readiness::new();
        assert!(!readiness.await_it(Direction::Read, readiness.look()), "it may be ready");
        readiness.unmark(Direction::Read, readiness.look());
        assert!(readiness.await_it(Direction::Read, readiness.look()));
        assert!(readiness.tell(read()).is_awaited(Direction::Read));
        assert!(!readiness.tell(read()).is_awaited(Direction::Write));
    }

    #[test]
    fn nobody_waits_for_what_is_closed() {
        let readiness = Readiness::new();
        readiness.unmark(Direction::Write, readiness.look());
        readiness.close();
        assert!(!readiness.await_it(Direction::Write, readiness.look()));
        assert!(readiness.look().is_closed());
    }

    /// Another one has tried in vain meanwhile, which may have wanted something else, or when it was another's.
    #[test]
    fn nobody_waits_after_an_event_that_it_has_not_seen() {
        let readiness = Readiness::mixed();
        let seen = readiness.look();
        readiness.unmark(Direction::Read, seen);
        readiness.tell(read());
        readiness.unmark(Direction::Read, readiness.look());
        assert!(!readiness.await_it(Direction::Read, seen));
        assert!(readiness.await_it(Direction::Read, readiness.look()));
        assert!(readiness.look().is_mixed() && !Readiness::new().look().is_mixed());
    }

    /// Doubt stays for good.
    #[test]
    fn short_reads_are_not_trusted_once_the_peer_has_said_more() {
        let readiness = Readiness::new();
        assert!(readiness.look().trusts_short_reads());
        readiness.tell(ReadyEvent::new(true, false, true));
        readiness.tell(read());
        assert!(!readiness.look().trusts_short_reads());
    }
}
