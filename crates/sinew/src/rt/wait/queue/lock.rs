//! The spin lock of a wait queue: held for a few instructions, never across a suspension or a call
//! of user code. Knows no waiter.
//!
//! It is one word, acquired by one exchange and released by a plain store. A lock that lets threads
//! sleep cannot do that: its release would have to look for sleeping threads. A thread that finds
//! the lock taken spins for a while, and then lets other threads run, since the holder may have
//! lost its processor.
//!
//! # Safety
//!
//! Trusted with lending the value to one thread at a time.
#![expect(unsafe_code, reason = "the value is lent by a word")]

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use crate::rt::base::impl_debug;
use crate::rt::base::sync::{AtomicU32, Ordering, constant, spin_loop, yield_now};

const FREE: u32 = 0;
const TAKEN: u32 = 1;

/// A value protected by this spin lock.
pub(crate) struct Guarded<T> {
    word: AtomicU32,
    /// # Invariant
    ///
    /// Touched only by the thread that changed the word from free to taken, until it changes it
    /// back.
    value: UnsafeCell<T>,
}

// SAFETY: the invariant of `value` passes it from one thread to the next, which `T: Send` allows.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    constant! {
        pub(crate) fn new(value: T) -> Self {
            Self { word: AtomicU32::new(FREE), value: UnsafeCell::new(value) }
        }
    }

    #[inline]
    pub(crate) fn lock(&self) -> Guard<'_, T> {
        if !self.try_take() {
            self.take_slow();
        }
        Guard { guarded: self }
    }

    pub(crate) fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    #[inline]
    fn try_take(&self) -> bool {
        // Acquire: pairs with the release of the previous holder.
        self.word.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    #[inline(never)]
    fn take_slow(&self) {
        let mut round = 0_u32;
        // Loads before it exchanges, so that the cache line stays with the holder.
        while self.word.load(Ordering::Relaxed) != FREE || !self.try_take() {
            relax(round);
            round = round.saturating_add(1);
        }
    }
}

/// Backs off before the next attempt.
fn relax(round: u32) {
    const SPINS: u32 = if cfg!(loom) { 0 } else { 40 };
    const YIELDS: u32 = if cfg!(loom) { u32::MAX } else { SPINS + 20 };
    if round < SPINS {
        spin_loop();
    } else if round < YIELDS {
        yield_now();
    } else {
        // The holder may be a thread of lower priority, which a yield does not let run.
        std::thread::sleep(Duration::from_micros(50));
    }
}

impl_debug!(Guarded<T>, ..);

/// The right to access the value. Must not be kept across a suspension.
pub(crate) struct Guard<'a, T> {
    /// # Invariant
    ///
    /// The word is taken on behalf of this guard.
    guarded: &'a Guarded<T>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the invariant of `guarded`, and that of its value.
        unsafe { &*self.guarded.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the invariant of `guarded`, and that of its value.
        unsafe { &mut *self.guarded.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // Release: pairs with the acquire of the next holder.
        self.guarded.word.store(FREE, Ordering::Release);
    }
}
