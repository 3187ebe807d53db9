//! Where this crate gets the time from: a function that the owner of a pool may replace. No other
//! file of this crate names the clock of the system.

use std::time::Instant;

/// Returns the current time.
pub(crate) type Clock = fn() -> Instant;

/// The clock of the system, which pools read by default.
pub(crate) const SYSTEM: Clock = Instant::now;

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    /// A clock that a test moves by hand. It is an hour ahead of the system's clock, so that a read
    /// of the wrong clock is noticed.
    pub(crate) struct HandClock(AtomicU64);

    impl HandClock {
        pub(crate) const fn new() -> Self {
            Self(AtomicU64::new(3600 * 1_000_000_000))
        }

        pub(crate) fn now(&self) -> Instant {
            static START: LazyLock<Instant> = LazyLock::new(Instant::now);
            *START + Duration::from_nanos(self.0.load(Ordering::SeqCst))
        }

        pub(crate) fn pass(&self, time: Duration) {
            self.0.fetch_add(time.as_nanos() as u64, Ordering::SeqCst);
        }
    }
}
