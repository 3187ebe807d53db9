//! Counts the reasons why a fiber that may migrate stays on its worker. Knows no fiber.

use super::word::Runner;
use crate::rt::base::sync::{AtomicU32, Ordering};

/// The fiber never migrates.
const FOR_GOOD: u32 = 1 << 31;

/// The fiber may migrate, but has a reason to stay that is never removed.
const STUCK: u32 = 1 << 30;

/// The largest count. Further reasons would only be forgotten ones, and the count must not reach
/// the bits above it.
const MOST: u32 = 1 << 29;

/// The count of a fiber's reasons to stay. Changed by the fiber itself, except for
/// [`stick`](Self::stick).
pub(crate) struct Pins(AtomicU32);

impl Pins {
    /// Returns the pins of a new fiber. `moves` is whether it may migrate.
    pub(crate) fn new(moves: bool) -> Self {
        Self(AtomicU32::new(if moves { 0 } else { FOR_GOOD }))
    }

    /// Adds a reason to stay, to be [removed](Self::remove) later. Returns false, and adds nothing,
    /// if there are too many already. The fiber stays anyway then, as long as it has not removed
    /// one itself.
    #[must_use]
    pub(crate) fn add(&self) -> bool {
        let has_room = self.0.load(Ordering::Relaxed) % STUCK < MOST;
        if has_room {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        has_room
    }

    /// Removes a reason. Only the fiber itself calls this: a waker has treated a suspended fiber as
    /// staying, and it must stay.
    pub(crate) fn remove(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// Makes a reason permanent, instead of [removing](Self::remove) it. For callers other than the
    /// fiber itself.
    #[cold]
    pub(crate) fn stick(&self) {
        self.0.fetch_or(STUCK, Ordering::Relaxed);
    }

    /// Returns whether there is a reason to stay.
    #[inline]
    pub(crate) fn are_some(&self) -> bool {
        // Relaxed: the fiber changed the count before it began its wait. It may become stuck later,
        // which changes nothing: a reason that another caller makes permanent is counted already.
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Returns which worker may run the fiber after the wait that it is about to begin.
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

    #[test]
    fn no_number_of_pins_makes_a_fiber_move_or_stay_for_good() {
        for (moves, runner) in [(false, Runner::Settled), (true, Runner::Same)] {
            let pins = Pins::new(moves);
            pins.0.fetch_add(MOST - 1, Ordering::Relaxed);
            assert!(pins.add());
            for _ in 0..3 {
                assert!(!pins.add(), "one more is refused");
            }
            assert!(pins.are_some() && pins.runner() == runner);
            pins.0.fetch_sub(MOST, Ordering::Relaxed);
            assert_eq!(pins.are_some(), !moves);
        }
    }

    #[test]
    fn a_reason_that_another_caller_gives_up_stays() {
        let pins = Pins::new(true);
        assert!(pins.add());
        pins.stick();
        assert!(pins.add());
        pins.remove();
        assert!(pins.are_some() && pins.runner() == Runner::Same);
    }
}
