//! Why a fiber stays where it is: reasons, counted. Knows no fiber.

use super::sync::{AtomicU32, Ordering};
use super::word::Runner;

/// A reason that is never taken away, and more than all others can be.
const FOR_GOOD: u32 = 1 << 31;

/// Of others there can be so many. Beyond that there is room for those who find out at the same time.
const MOST: u32 = 1 << 30;

/// The count. Changed by the fiber itself, and by what it has left behind on another worker: a coroutine that was suspended with a reason.
pub(crate) struct Pins(AtomicU32);

impl Pins {
    /// Of a fiber that may move, or not.
    pub(crate) fn new(moves: bool) -> Self {
        Self(AtomicU32::new(if moves { 0 } else { FOR_GOOD }))
    }

    /// One reason more.
    ///
    /// # Panics
    ///
    /// If there are too many: they were forgotten, and at some point a fiber that stays for good would not any more.
    pub(crate) fn add(&self) {
        if self.0.fetch_add(1, Ordering::Relaxed) % FOR_GOOD >= MOST {
            self.remove();
            panic!("a fiber has a billion pins: they must be dropped, not forgotten");
        }
    }

    /// One less.
    pub(crate) fn remove(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether there is any.
    #[inline]
    pub(crate) fn are_some(&self) -> bool {
        // Relaxed: changed by the fiber before it began its wait.
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Who may run the fiber after the wait that it is about to begin.
    #[inline]
    pub(crate) fn runner(&self) -> Runner {
        match self.0.load(Ordering::Relaxed) {
            0 => Runner::Anybody,
            FOR_GOOD.. => Runner::Settled,
            _ => Runner::Same,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{MOST, Ordering, Pins, Runner};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn no_number_of_pins_makes_a_fiber_move_or_stay_for_good() {
        for (moves, runner) in [(false, Runner::Settled), (true, Runner::Same)] {
            let pins = Pins::new(moves);
            pins.0.fetch_add(MOST - 1, Ordering::Relaxed);
            pins.add();
            for _ in 0..3 {
                assert!(catch_unwind(AssertUnwindSafe(|| pins.add())).is_err());
            }
            assert!(pins.are_some() && pins.runner() == runner);
            pins.0.fetch_sub(MOST, Ordering::Relaxed);
            assert_eq!(pins.are_some(), !moves);
        }
    }
}
