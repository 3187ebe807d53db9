//! A thief's patience with a worker's only task: its newest child, which it is most likely about to
//! join. Knows times and positions, and no deque.

use std::time::{Duration, Instant};

use super::spin::SPIN;

/// The lone task that a thief has seen: where, and since when. A thief watches one task at a time:
/// as soon as it would have to watch two, there is enough work to take one of them.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    seen: Option<Seen>,
}

#[derive(Debug)]
struct Seen {
    victim: usize,
    position: isize,
    since: Instant,
}

/// What a thief does about a lone task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Leave it alone: the thief sees it for the first time.
    SpareAtFirst,
    /// Still leave it alone.
    Spare,
    /// Take it: it has been there for long enough.
    Take,
}

impl Patience {
    /// How long a lone task is left alone: about as long as a wake takes.
    pub(crate) const LIMIT: Duration = SPIN;

    /// Decides about a lone task that a thief sees at a position of a victim's deque.
    pub(crate) fn look(&mut self, victim: usize, position: isize, now: Instant) -> Verdict {
        let is_young = |seen: &Seen| now.saturating_duration_since(seen.since) < Self::LIMIT;
        match &self.seen {
            Some(seen) if seen.victim == victim && seen.position == position => {
                if is_young(seen) {
                    Verdict::Spare
                } else {
                    Verdict::Take
                }
            }
            // The thief watches another victim's task; this one is not older.
            Some(seen) if is_young(seen) => Verdict::Spare,
            _ => {
                self.seen = Some(Seen { victim, position, since: now });
                Verdict::SpareAtFirst
            }
        }
    }

    /// Returns the worker whose task the thief watches.
    pub(crate) fn victim(&self) -> Option<usize> {
        self.seen.as_ref().map(|seen| seen.victim)
    }

    /// Forgets the watched task: the thief has found something to do.
    pub(crate) fn forget(&mut self) {
        self.seen = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_task_is_spared_until_the_limit() {
        let (mut patience, now) = (Patience::default(), Instant::now());
        assert_eq!(patience.look(1, 7, now), Verdict::SpareAtFirst);
        let nearly = Patience::LIMIT.saturating_sub(Duration::from_nanos(1));
        assert_eq!(patience.look(1, 7, now + nearly), Verdict::Spare);
        assert_eq!(patience.look(1, 7, now + Patience::LIMIT), Verdict::Take);
    }

    /// The time of the watched task does not count for a task of another worker, nor for the next
    /// task of the same worker.
    #[test]
    fn another_task_is_spared_anew() {
        for (victim, position) in [(2, 7), (1, 8), (2, 8)] {
            let (mut patience, now) = (Patience::default(), Instant::now());
            assert_eq!(patience.look(1, 7, now), Verdict::SpareAtFirst);
            assert_eq!(patience.look(victim, position, now), Verdict::Spare);
            assert_eq!(patience.victim(), Some(1));
            let later = now + Patience::LIMIT;
            assert_eq!(patience.look(victim, position, later), Verdict::SpareAtFirst);
            assert_eq!(patience.victim(), Some(victim));
            assert_eq!(patience.look(victim, position, later), Verdict::Spare);
            assert_eq!(patience.look(victim, position, later + Patience::LIMIT), Verdict::Take);
        }
    }
}
