//! The lock of a wait queue: held for a few instructions, never across a suspension nor a call of the user's. Knows no waiter.
//!
//! One word, taken by one exchange and given back by a plain store, which a lock that lets threads sleep cannot do: it would have to
//! look whether one does. Whoever finds it taken spins for a while, and then lets other threads run, since the one that has it may
//! have lost its processor.
//!
//! # Safety
//!
//! Trusted with lending the value to one at a time.
#![expect(unsafe_code, reason = "the value is lent by a word")]

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use crate::rt::base::impl_debug;
use crate::rt::base::sync::{AtomicU32, Ordering, constant, spin_loop, yield_now};

const FREE: u32 = 0;
const TAKEN: u32 = 1;

/// A value under such a lock.
pub(crate) struct Guarded<T> {
    word: AtomicU32,
    /// # Invariant
    ///
    /// Touched only by whoever changed the word from free to taken, until it changes it back.
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
        // Acquire: pairs with the release of the one who gave it back.
        self.word.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    #[inline(never)]
    fn take_slow(&self) {
        let mut round = 0_u32;
        // Looked at first, so that the line stays with the one who has it.
        while self.word.load(Ordering::Relaxed) != FREE || !self.try_take() {
            relax(round);
            round = round.saturating_add(1);
        }
    }
}

/// Before the next look.
fn relax(round: u32) {
    const SPINS: u32 = if cfg!(loom) { 0 } else { 40 };
    const YIELDS: u32 = if cfg!(loom) { u32::MAX } else { SPINS + 20 };
    if round < SPINS {
        spin_loop();
    } else if round < YIELDS {
        yield_now();
    } else {
        // A thread of lower priority may have it, which a yield does not let run.
        std::thread::sleep(Duration::from_micros(50));
    }
}

impl_debug!(Guarded<T>, ..);

/// The right to the value. Not to be kept across a suspension.
pub(crate) struct Guard<'a, T> {
    /// # Invariant
    ///
    /// Its word is taken, for this guard.
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
        // Release: pairs with the acquire of the next one.
        self.guarded.word.store(FREE, Ordering::Release);
    }
}
