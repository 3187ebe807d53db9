//! The bits in the word of a reader-writer lock, and what follows from them. Knows neither how the
//! word changes nor the queue.

pub(super) const WRITER: u64 = 1;
pub(super) const QUEUED: u64 = 1 << 1;
pub(super) const AWAKE: u64 = 1 << 2;
pub(super) const STRICT: u64 = 1 << 3;
/// One reader. There is room for 2^60, which takes too long to reach.
pub(super) const READER: u64 = 1 << 4;

/// What a caller wants to do with the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Read,
    Write,
}

impl Mode {
    /// Returns whether a caller may acquire the lock in this mode.
    #[inline]
    pub(super) fn is_free(self, word: u64) -> bool {
        word & (WRITER | STRICT) == 0 && (self == Self::Read || word < READER)
    }

    /// Returns what one holder adds to the word.
    #[inline]
    pub(super) fn unit(self) -> u64 {
        match self {
            Self::Read => READER,
            Self::Write => WRITER,
        }
    }
}

/// Returns whether something may be due after a holder has left: there are waiters, and no awake
/// waiter that takes care of it.
#[inline]
pub(super) fn is_due(word: u64) -> bool {
    word & QUEUED != 0 && word & (AWAKE | STRICT) != AWAKE
}

/// What is to be done.
#[derive(Debug)]
pub(super) enum Due {
    Wake,
    /// The lock is strict: hand it over.
    Hand(Mode),
}

/// Returns what is due for the first waiter, which wants `first`. With `pokes`, a writer that
/// readers keep out is also to be woken.
pub(super) fn due(word: u64, first: Option<Mode>, pokes: bool) -> Option<Due> {
    let mode = first?;
    let is_free = word & WRITER == 0 && (mode == Mode::Read || word < READER);
    if word & STRICT != 0 {
        return is_free.then_some(Due::Hand(mode));
    }
    let is_woken = is_free || pokes && word & WRITER == 0;
    (is_woken && word & AWAKE == 0).then_some(Due::Wake)
}
