//! Sets of signals, with a bit for each. Knows not how signals arrive.

use std::fmt;

use super::number::{HIGHEST, Signal};

/// A set of signals.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Set(u64);

// The set has a bit for each signal.
const _: () = assert!(HIGHEST as u32 == u64::BITS);

impl Set {
    pub(super) const fn of(signal: Signal) -> Self {
        Self(1 << (signal.as_raw() - 1))
    }

    pub(super) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) const fn bits(self) -> u64 {
        self.0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the signals in both sets.
    pub(super) fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the signals that are not in the other set.
    pub(super) fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns the signals of the set in the order of their numbers.
    pub(super) fn signals(self) -> impl Iterator<Item = Signal> {
        (1..=HIGHEST).map(Signal).filter(move |signal| !self.common(Self::of(*signal)).is_empty())
    }
}

impl FromIterator<Signal> for Set {
    fn from_iter<I: IntoIterator<Item = Signal>>(signals: I) -> Self {
        signals.into_iter().fold(Self::default(), |set, signal| set.union(Self::of(signal)))
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.signals()).finish()
    }
}
