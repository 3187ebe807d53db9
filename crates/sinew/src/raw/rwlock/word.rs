//! What is in the word of a lock for readers and writers, and what follows from it. Knows neither the word's changes nor the queue.

pub(super) const WRITER: u64 = 1;
pub(super) const QUEUED: u64 = 1 << 1;
pub(super) const AWAKE: u64 = 1 << 2;
pub(super) const STRICT: u64 = 1 << 3;
/// One of them. That there are 2^60 takes longer than anybody has.
pub(super) const READER: u64 = 1 << 4;

/// What somebody wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Read,
    Write,
}

impl Mode {
    /// Whether it may be had.
    #[inline]
    pub(super) fn is_free(self, word: u64) -> bool {
        word & (WRITER | STRICT) == 0 && (self == Self::Read || word < READER)
    }

    /// What one that has it is in the word.
    #[inline]
    pub(super) fn unit(self) -> u64 {
        match self {
            Self::Read => READER,
            Self::Write => WRITER,
        }
    }
}

/// Whether something may be due when somebody has left: one waits, and the one that is awake, if any, will not see to it.
#[inline]
pub(super) fn is_due(word: u64) -> bool {
    word & QUEUED != 0 && word & (AWAKE | STRICT) != AWAKE
}

/// What is to be done.
#[derive(Debug)]
pub(super) enum Due {
    Wake,
    /// The lock is strict.
    Hand(Mode),
}

/// What is due for the first one who waits, and wants this. `pokes` has a writer woken that readers are in the way of.
pub(super) fn due(word: u64, first: Option<Mode>, pokes: bool) -> Option<Due> {
    let mode = first?;
    let is_free = word & WRITER == 0 && (mode == Mode::Read || word < READER);
    if word & STRICT != 0 {
        return is_free.then_some(Due::Hand(mode));
    }
    let is_woken = is_free || pokes && word & WRITER == 0;
    (is_woken && word & AWAKE == 0).then_some(Due::Wake)
}
