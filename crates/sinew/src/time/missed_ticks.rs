//! What happens to missed ticks.

use crate::rt::Missed;

/// What happens to ticks that pass while the previous one is still being handled.
///
/// For example, with a period of 10 ms from 0 on, the tick at 10 is handled until 35:
///
/// | | next ticks at |
/// | --- | --- |
/// | [`Burst`](Self::Burst) | 20 and 30, both at once; 40, 50 |
/// | [`Skip`](Self::Skip) | 40, 50 |
/// | [`Delay`](Self::Delay) | 45, 55 |
///
/// ```
/// use sinew::time::{MissedTicks, Schedule};
/// use std::time::Duration;
///
/// let schedule = Schedule::every(Duration::from_secs(1)).missed(MissedTicks::Skip);
/// assert_ne!(schedule, Schedule::every(Duration::from_secs(1)));
/// assert_eq!(MissedTicks::default(), MissedTicks::Burst);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MissedTicks {
    /// The missed ticks follow at once, one after the other, so that no tick is lost.
    #[default]
    Burst,
    /// The missed ticks are skipped: the next tick is the next multiple of the period.
    Skip,
    /// The missed ticks are skipped, and all later ones are delayed: the next tick is one period
    /// from now.
    Delay,
}

impl MissedTicks {
    pub(super) fn inner(self) -> Missed {
        match self {
            Self::Burst => Missed::Burst,
            Self::Skip => Missed::Skip,
            Self::Delay => Missed::Delay,
        }
    }
}
