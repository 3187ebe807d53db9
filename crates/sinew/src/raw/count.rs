//! A count that others wait for to come down to nothing. Knows neither who counts nor what it means if there is nothing to count down.
//!
//! It is one word, and whoever finds it zero waits for nothing. All steps but the last are one change of it; the last one is made under the
//! lock of the queue, so that nobody who sees it, and counts up and waits again, can be woken by it.

use super::RawGate;
use crate::rt::sync::{AtomicUsize, Ordering, constant};
use crate::rt::{GaveUp, Limit, WaitKind};

/// The count.
pub(crate) struct RawCount {
    left: AtomicUsize,
    gate: RawGate,
}

/// The count would be less than nothing, or more than it can be. It stays as it was.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OutOfRange;

impl RawCount {
    constant! {
        pub(crate) fn new(count: usize) -> Self {
            Self { left: AtomicUsize::new(count), gate: RawGate::new() }
        }
    }

    /// What is left, for show.
    pub(crate) fn left(&self) -> usize {
        self.left.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn is_zero(&self) -> bool {
        // Acquire: pairs with the release of all who counted down. Changes of the word in between keep that up.
        self.left.load(Ordering::Acquire) == 0
    }

    /// # Errors
    ///
    /// If it would be too much.
    pub(crate) fn add(&self, many: usize) -> Result<(), OutOfRange> {
        // Relaxed: whoever is told to count down is told by something else.
        let added =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_add(many));
        added.map(|_| ()).map_err(|_| OutOfRange)
    }

    /// # Errors
    ///
    /// If there is less.
    #[inline]
    pub(crate) fn sub(&self, many: usize) -> Result<(), OutOfRange> {
        let some = |left: usize| (left > many).then(|| left - many);
        // Release: pairs with the acquire of whoever finds it zero, or makes it so.
        match self.left.fetch_update(Ordering::Release, Ordering::Relaxed, some) {
            Ok(_) => Ok(()),
            Err(_) => self.sub_last(many),
        }
    }

    #[cold]
    fn sub_last(&self, many: usize) -> Result<(), OutOfRange> {
        let mut before = Err(0);
        self.gate.open_if(|| {
            // Acquire: what the others did is seen by whoever is woken from here. Release: as above.
            before =
                self.left.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |left| left.checked_sub(many));
            before == Ok(many) && many > 0
        });
        before.map(|_| ()).map_err(|_| OutOfRange)
    }

    /// Waits until it is zero.
    ///
    /// # Errors
    ///
    /// If the limit is reached before.
    #[inline]
    pub(crate) fn wait(&self, kind: WaitKind, limit: Limit) -> Result<(), GaveUp> {
        if self.is_zero() { Ok(()) } else { self.gate.wait(kind, limit, || self.is_zero()).into_result() }
    }
}
