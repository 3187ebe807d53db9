//! A key that identifies a value in every fiber by a number, which it gets at the first use. Knows
//! no fiber.

use std::marker::PhantomData;
use std::num::NonZero;
use std::sync::atomic::{AtomicU32, Ordering};

static LAST: AtomicU32 = AtomicU32::new(0);

/// A key to values of one type.
///
/// # Invariant
///
/// No other key ever has its number, so a number stands for a type as well.
pub(crate) struct LocalsKey<T> {
    /// Zero until a number is assigned.
    number: AtomicU32,
    values: PhantomData<fn() -> T>,
}

impl<T> LocalsKey<T> {
    pub(crate) const fn new() -> Self {
        Self { number: AtomicU32::new(0), values: PhantomData }
    }

    /// Returns the number, and assigns one if there is none.
    #[inline]
    pub(crate) fn number(&self) -> NonZero<u32> {
        // Relaxed: the number publishes no other memory.
        NonZero::new(self.number.load(Ordering::Relaxed)).unwrap_or_else(|| self.give_number())
    }

    /// Returns the number, or zero if there is none yet.
    #[inline]
    pub(super) fn number_if_given(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }

    #[cold]
    fn give_number(&self) -> NonZero<u32> {
        let more = |last: u32| last.checked_add(1);
        let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        let new = last.expect("fewer than 2^32 keys") + 1;
        // If another thread was faster, the number just taken stays unused.
        let given = self.number.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed);
        NonZero::new(given.map_or_else(|faster| faster, |_| new)).expect("numbers begin with one")
    }
}
