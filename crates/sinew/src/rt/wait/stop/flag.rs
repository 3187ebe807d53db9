//! The flag of a cancellation, and how it meets a wait that begins at the same moment. Knows
//! neither.
//!
//! The canceller raises the flag, and then pokes the word of each possible waiter. The waiter opens
//! the wait in its word, and then looks at the flag. Each side writes one value and reads the
//! other, with a fence in between. One of the two fences is first in the order that all threads
//! agree on. If it is the canceller's, the waiter sees the flag. If it is the waiter's, the poke
//! finds an open wait. Without one of the fences, both sides could read the old values, and the
//! wait would last for ever. A model checks this too.

use crate::rt::base::sync::{AtomicBool, Ordering, fence};

/// A flag that stays raised.
#[derive(Debug)]
pub(crate) struct StopFlag(AtomicBool);

impl StopFlag {
    pub(crate) fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Raises the flag. The caller may poke waiters afterwards.
    pub(crate) fn raise(&self) {
        // Release: pairs with the acquire of `is_raised`. A thread that sees the flag sees what was
        // done before the cancel.
        self.0.store(true, Ordering::Release);
        // SeqCst: pairs with the fence of `meet`.
        fence(Ordering::SeqCst);
    }

    /// Returns whether the flag is raised.
    #[inline]
    pub(crate) fn is_raised(&self) -> bool {
        // Acquire: pairs with the release of `raise`.
        self.0.load(Ordering::Acquire)
    }
}

/// Orders the opening of a wait before a look at the flags that may end it.
#[inline]
pub(crate) fn meet() {
    // SeqCst: pairs with the fence of `raise`.
    fence(Ordering::SeqCst);
    #[cfg(all(test, not(loom)))]
    opening::call();
}

/// A hook for tests, between the opening of a wait and the look at the flags.
#[cfg(all(test, not(loom)))]
pub(crate) mod opening {
    use std::cell::Cell;

    thread_local! {
        static NEXT: Cell<Option<Box<dyn FnOnce()>>> = const { Cell::new(None) };
    }

    /// Calls `body` in the next [`meet`](super::meet) of this thread.
    pub(crate) fn set(body: impl FnOnce() + 'static) {
        NEXT.set(Some(Box::new(body)));
    }

    #[inline(never)]
    pub(super) fn call() {
        // A thread that ends may wait after its thread-locals are gone.
        if let Ok(Some(body)) = NEXT.try_with(Cell::take) {
            body();
        }
    }
}
