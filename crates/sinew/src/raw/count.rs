//! A counter whose waiters wait until it reaches zero. Knows neither who counts, nor what an
//! underflow means.
//!
//! It is one word. A caller that finds it zero does not wait. Each step but the last is one atomic
//! change. The last step happens under the lock of the queue, so it cannot wake a caller that sees
//! the zero, counts up and waits again.

use super::RawGate;
use crate::rt::sync::{AtomicUsize, Ordering, constant};
use crate::rt::{GaveUp, Limit, WaitKind};

/// The counter.
pub(crate) struct RawCount {
    left: AtomicUsize,
    gate: RawGate,
}

/// The count would underflow or overflow. It does not change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OutOfRange;

impl RawCount {
    constant! {
        pub(crate) fn new(count: usize) -> Self {
            Self { left: AtomicUsize::new(count), gate: RawGate::new() }
        }
    }

    /// Returns the count, for `Debug`.
    pub(crate) fn left(&self) -> usize {
        self.left.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn is_zero(&self) -> bool {
        // Acquire: pairs with the release of all callers that counted down. Their release sequences
        // continue through the changes in between.
        self.left.load(Ordering::Acquire) == 0
    }

    /// # Errors
    ///
    /// Fails if the count would overflow.
    pub(crate) fn add(&self, many: usize) -> Result<(), OutOfRange> {
        // Relaxed: other synchronisation tells a caller that it may count down.
        let added =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_add(many));
        added.map(|_| ()).map_err(|_| OutOfRange)
    }

    /// # Errors
    ///
    /// Fails if the count is less than `many`.
    #[inline]
    pub(crate) fn sub(&self, many: usize) -> Result<(), OutOfRange> {
        let some = |left: usize| (left > many).then(|| left - many);
        // Release: pairs with the acquire of a caller that finds it zero, or makes it zero.
        match self.left.fetch_update(Ordering::Release, Ordering::Relaxed, some) {
            Ok(_) => Ok(()),
            Err(_) => self.sub_last(many),
        }
    }

    #[cold]
    fn sub_last(&self, many: usize) -> Result<(), OutOfRange> {
        let mut before = Err(0);
        self.gate.open_if(|| {
            // Acquire: waiters that are woken here see what the other callers did. Release: as
            // above.
            before =
                self.left.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |left| left.checked_sub(many));
            before == Ok(many) && many > 0
        });
        before.map(|_| ()).map_err(|_| OutOfRange)
    }

    /// Waits until the count is zero.
    ///
    /// # Errors
    ///
    /// Returns an error if the limit is reached first.
    #[inline]
    pub(crate) fn wait(&self, kind: WaitKind, limit: Limit) -> Result<(), GaveUp> {
        if self.is_zero() { Ok(()) } else { self.gate.wait(kind, limit, || self.is_zero()).into_result() }
    }
}
