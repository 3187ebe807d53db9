//! A set of workers, with a bit for each. Knows no protocol: the callers choose the orderings.

use crate::sync::{AtomicU64, Ordering};

/// Most workers of a group, spare ones included. Fewer under the checker, for which each word is
/// one more state to explore.
pub(crate) const MOST_WORKERS: usize = if cfg!(loom) { 64 } else { 128 };

const WORDS: usize = MOST_WORKERS / 64;

/// A set of workers.
#[derive(Debug)]
pub(super) struct Mask([AtomicU64; WORDS]);

impl Mask {
    pub(super) fn new() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }

    pub(super) fn add(&self, worker: usize, order: Ordering) {
        let (word, bit) = self.bit(worker);
        word.fetch_or(bit, order);
    }

    /// Removes a worker. Returns whether it was in the set.
    pub(super) fn remove(&self, worker: usize, order: Ordering) -> bool {
        let (word, bit) = self.bit(worker);
        word.fetch_and(!bit, order) & bit != 0
    }

    /// Removes the lowest worker and returns it. If the set is empty, this is known as from a
    /// SeqCst load: callers rely on that.
    pub(super) fn claim_lowest(&self) -> Option<usize> {
        let clear = |word: u64| (word != 0).then(|| word & (word - 1));
        self.0.iter().enumerate().find_map(|(index, word)| {
            let before = word.fetch_update(Ordering::Relaxed, Ordering::SeqCst, clear).ok()?;
            Some(index * 64 + before.trailing_zeros() as usize)
        })
    }

    #[inline]
    pub(super) fn is_empty(&self, order: Ordering) -> bool {
        self.0.iter().all(|word| word.load(order) == 0)
    }

    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|word| word.load(Ordering::Relaxed).count_ones() as usize).sum()
    }

    pub(super) fn contains(&self, worker: usize) -> bool {
        let (word, bit) = self.bit(worker);
        word.load(Ordering::Relaxed) & bit != 0
    }

    /// Returns whether the set contains any worker but this one.
    pub(super) fn has_others(&self, worker: usize) -> bool {
        self.count() > usize::from(self.contains(worker))
    }

    fn bit(&self, worker: usize) -> (&AtomicU64, u64) {
        (&self.0[worker / 64], 1 << (worker % 64))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn each() -> std::ops::Range<usize> {
        0..MOST_WORKERS
    }

    fn with(workers: impl IntoIterator<Item = usize>) -> Mask {
        let mask = Mask::new();
        workers.into_iter().for_each(|worker| mask.add(worker, Ordering::Relaxed));
        mask
    }

    fn claim_all(mask: &Mask) -> Vec<usize> {
        std::iter::from_fn(|| mask.claim_lowest()).collect()
    }

    #[test]
    fn each_worker_has_a_bit_of_its_own() {
        for worker in each() {
            let mask = with([worker]);
            assert!(each().all(|other| mask.contains(other) == (other == worker)), "{worker}");
            assert!(!mask.has_others(worker), "{worker}");
            assert!(mask.has_others((worker + 1) % MOST_WORKERS), "{worker}");
            assert_eq!(claim_all(&mask), [worker]);
            assert!(mask.is_empty(Ordering::Relaxed), "{worker}");
        }
    }

    #[test]
    fn all_are_claimed_from_the_lowest_on() {
        let mask = with(each().rev());
        assert_eq!(mask.count(), MOST_WORKERS);
        assert!(claim_all(&mask).into_iter().eq(each()));
        assert_eq!(mask.claim_lowest(), None);
    }

    #[test]
    fn a_removed_worker_is_not_claimed() {
        let mask = with([0, 31, 32, 63, 64, 127]);
        assert!(mask.remove(32, Ordering::Relaxed));
        assert!(!mask.remove(32, Ordering::Relaxed));
        assert_eq!(claim_all(&mask), [0, 31, 63, 64, 127]);
    }

    /// Each operation has the effect that it has on a `BTreeSet`.
    #[test]
    fn it_is_a_set() {
        let (mask, mut set) = (Mask::new(), BTreeSet::new());
        let mut random = 0x9E37_79B9_7F4A_7C15_u64;
        for _ in 0..20_000 {
            // xorshift: each run uses the same numbers.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let worker = (random >> 8) as usize % MOST_WORKERS;
            match random >> 62 {
                0 => {
                    mask.add(worker, Ordering::Relaxed);
                    set.insert(worker);
                }
                1 => assert_eq!(mask.remove(worker, Ordering::Relaxed), set.remove(&worker)),
                2 => assert_eq!(mask.claim_lowest(), set.pop_first()),
                _ => assert_eq!(mask.contains(worker), set.contains(&worker)),
            }
            assert_eq!(mask.count(), set.len());
            assert_eq!(mask.is_empty(Ordering::Relaxed), set.is_empty());
            assert_eq!(mask.has_others(worker), set.iter().any(|other| *other != worker));
        }
    }
}
