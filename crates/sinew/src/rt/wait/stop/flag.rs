//! Whether something is cancelled, and how that meets a wait which begins at the same moment. Knows neither.
//!
//! Whoever cancels raises the flag, and then pokes the word of whoever may wait. Whoever waits opens the wait in its word, and then
//! looks at the flag. Each writes one and reads the other, with a fence in between; of the two fences one is first in the order that
//! all threads agree on. If it is the canceller's, the waiter sees the flag; if it is the waiter's, the poke finds an open wait. Without
//! one of them both could read what was there before, and the wait would last for ever. A model says so too.

use crate::rt::base::sync::{AtomicBool, Ordering, fence};

/// The flag. Once raised, it stays so.
#[derive(Debug)]
pub(crate) struct StopFlag(AtomicBool);

impl StopFlag {
    pub(crate) fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Raises it. Pokes may follow.
    pub(crate) fn raise(&self) {
        // Release: what was done before the cancel is seen by whoever sees it.
        self.0.store(true, Ordering::Release);
        // Pairs with the fence of `meet`.
        fence(Ordering::SeqCst);
    }

    /// Whether it is raised.
    #[inline]
    pub(crate) fn is_raised(&self) -> bool {
        // Acquire: pairs with the release of `raise`.
        self.0.load(Ordering::Acquire)
    }
}

/// Between opening a wait and a look at the flags that may end it.
#[inline]
pub(crate) fn meet() {
    // Pairs with the fence of `raise`.
    fence(Ordering::SeqCst);
    #[cfg(all(test, not(loom)))]
    opening::call();
}

/// A place for tests to run code in.
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
        // A thread that ends may wait when its thread-locals are gone.
        if let Ok(Some(body)) = NEXT.try_with(Cell::take) {
            body();
        }
    }
}
