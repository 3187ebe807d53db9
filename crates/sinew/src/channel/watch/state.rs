//! The state of a watch channel in one word: the version of the value, and whether all senders are
//! gone. Knows neither the value nor the waiters. The argument for its orderings is in
//! [`shared`](super::shared).

use crate::rt::sync::{AtomicU64, Ordering};

/// Set when the last sender is gone.
const CLOSED: u64 = 1;
/// The amount by which the word grows with each version.
const STEP: u64 = 2;

/// The word.
pub(super) struct VersionWord(AtomicU64);

/// The version of a value: a number that grows with each change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version(u64);

impl Version {
    /// The version of no value, for a receiver that has seen none.
    pub(super) const NONE: Self = Self(0);
}

/// What a receiver finds in the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VersionChange {
    /// There is a version that the receiver has not seen.
    Changed(Version),
    /// There is no new version, and there will be none.
    Closed,
    /// There is no new version now.
    Nothing,
}

impl VersionWord {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(STEP))
    }

    /// Acquire: pairs with the release of [`change`](Self::change) and [`close`](Self::close).
    fn load(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    pub(super) fn version(&self) -> Version {
        Version(self.load() & !CLOSED)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.load() & CLOSED != 0
    }

    /// Compares the state with the version that a receiver has seen. Both answers come from one
    /// load, so [`VersionChange::Closed`] means that the receiver has seen the last version.
    pub(super) fn change_since(&self, seen: Version) -> VersionChange {
        let word = self.load();
        let version = Version(word & !CLOSED);
        if version != seen {
            VersionChange::Changed(version)
        } else if word & CLOSED != 0 {
            VersionChange::Closed
        } else {
            VersionChange::Nothing
        }
    }

    /// Starts a new version. The caller holds the lock of the queue, and the value to write.
    pub(super) fn change(&self) {
        self.0.fetch_add(STEP, Ordering::Release);
    }

    /// Records that all senders are gone. The caller holds the lock of the queue.
    pub(super) fn close(&self) {
        self.0.fetch_or(CLOSED, Ordering::Release);
    }
}
