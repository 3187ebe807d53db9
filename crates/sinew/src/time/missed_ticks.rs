//! What becomes of ticks that are missed.

use crate::rt::Missed;

/// What becomes of ticks that have passed before anybody could see to them.
///
/// A period of 10 ms from 0 on, and the tick at 10 seen to until 35:
///
/// | | next ones at |
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
    /// All of them come at once, one after the other: in the long run there are as many as there
    /// ought to be.
    #[default]
    Burst,
    /// They are left out: the next one is the first multiple of the period that is still to come.
    Skip,
    /// They are left out, and all later ones are put off: the next one comes a period from now.
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
