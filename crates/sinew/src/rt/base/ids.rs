//! Numbers of fibers. They are never reused in a process. A worker takes many at once, so that a
//! spawn touches nothing shared.

use std::num::NonZero;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many numbers a worker takes at once.
const AT_ONCE: u64 = 1 << 12;

static NEXT: AtomicU64 = AtomicU64::new(1);

/// A range of numbers that belong to one owner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ids {
    next: u64,
    end: u64,
}

impl Ids {
    pub(crate) const fn none() -> Self {
        Self { next: 0, end: 0 }
    }

    /// Returns the next number.
    #[inline]
    pub(crate) fn next(&mut self) -> NonZero<u64> {
        if self.next == self.end {
            self.next = take(AT_ONCE);
            self.end = self.next + AT_ONCE;
        }
        self.next += 1;
        NonZero::new(self.next - 1).expect("numbers begin with one")
    }
}

/// Returns one number, for a thread that is not a worker.
pub(crate) fn one() -> NonZero<u64> {
    NonZero::new(take(1)).expect("numbers begin with one")
}

#[cold]
fn take(count: u64) -> u64 {
    let first = NEXT.fetch_add(count, Ordering::Relaxed);
    // To use 2^64 numbers takes centuries.
    assert!(first < u64::MAX / 2, "the numbers of fibers are used up");
    first
}
